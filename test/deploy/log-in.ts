/**
 * A function of a shell: `log_in <origin> <login name> <password>` logs somebody in through the pages, as a browser without scripts
 * does, and prints each page that it comes to: its status, its address and its title.
 */
export const logIn = `
log_in() {
  local origin=$1 page=page.html field form
  browse() {
    curl -sSL -b cookies -c cookies -o $page -w 'page %{http_code} %{url_effective} ' "$@"
    sed -n 's/.*<title>\\(.*\\)<\\/title>.*/\\1/p' $page
  }
  browse "$origin/ui/account"
  for field in "login_name=$2" "password=$3"; do
    form=$(sed -n '/<form method="post"/,/<\\/form>/{p;/<\\/form>/q}' $page | sed 's/&amp;/\\&/g')
    set -- "$origin" "$2" "$3" --data-urlencode "$field"
    while read -r hidden; do set -- "$@" --data-urlencode "$hidden"; done < <(
      sed -n 's/.*<input type="hidden" name="\\([^"]*\\)" value="\\([^"]*\\)".*/\\1=\\2/p' <<< "$form")
    browse -H "Origin: $origin" "\${@:4}" "$origin$(sed -n 's/.* action="\\([^"]*\\)".*/\\1/p;q' <<< "$form")"
  done
}`;

/** What that prints where it ends on the pages of the account, after the page of the password. */
export const signedIn =
  /^page 200 \S+\/ui\/login\/password\?\S+ Enter your password\b.*\npage 200 \S+\/ui\/account Your account\b/m;
