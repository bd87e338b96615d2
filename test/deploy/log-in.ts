/**
 * A function of a shell: `log_in <origin> <login name> <password>` logs somebody in through the pages, as a browser without scripts
 * does, and prints each page that it comes to: its status, its address and its title. Where a second factor is demanded an
 * authenticator app is set up, by `oathtool`.
 */
export const logIn = `
log_in() {
  local origin=$1 page=page.html
  browse() {
    curl -sSL -b cookies -c cookies -o $page -w 'page %{http_code} %{url_effective} ' "$@"
    sed -n 's/.*<title>\\(.*\\)<\\/title>.*/\\1/p' $page
  }
  # Sends the first form of the page with one field more.
  send() {
    local form=$(sed -n '/<form method="post"/,/<\\/form>/{p;/<\\/form>/q}' $page | sed 's/&amp;/\\&/g') hidden
    set -- --data-urlencode "$1"
    while read -r hidden; do set -- "$@" --data-urlencode "$hidden"; done < <(
      sed -n 's/.*<input type="hidden" name="\\([^"]*\\)" value="\\([^"]*\\)".*/\\1=\\2/p' <<< "$form")
    browse -H "Origin: $origin" "$@" "$origin$(sed -n 's/.* action="\\([^"]*\\)".*/\\1/p;q' <<< "$form")"
  }
  browse "$origin/ui/account"
  send "login_name=$2"
  send "password=$3"
  if grep -q 'action="/ui/login/mfa/setup' $page; then
    send factor=totp
    send "code=$(oathtool --totp --base32 $(sed -n 's/.*[?;]secret=\\([A-Z2-7]*\\).*/\\1/p;T;q' $page))"
    send saved=true
  fi
}`;

/** What that prints where it ends on the pages of the account, after the page of the password. */
export const signedIn =
  /^page 200 \S+\/ui\/login\/password\?\S+ Enter your password\b.*\n(?:page 200 \S+\/mfa\/setup.*\n)*page 200 \S+\/ui\/account Your account\b/m;
