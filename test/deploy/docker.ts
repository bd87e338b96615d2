import { settings } from "../../.ci/image.ts";

/**
 * A `docker` that does with an image what its configuration and the options of `run` say, where no daemon runs: the root from
 * the layers, read-only where that is asked for, volumes, environment, the user, and no capability.
 */
export function docker(): string {
  const { Env, Entrypoint, Cmd, User } = settings;
  return `#!/bin/bash -eu
image=/images/idsvc root=/images/idsvc/root container=/run/containers/idsvc
case $1 in
load)
  [ "$2" = -i ]; mkdir -p $root; tar -xf "$3" -C $image
  for layer in $(grep -o '"Layers":\\[[^]]*' $image/manifest.json | grep -o 'blobs/[^"]*'); do tar -xzf $image/$layer -C $root; done ;;
run)
  shift; environment=(${Env.join(" ")}) mounts= user=${User}
  while :; do case $1 in
    -d) shift ;;
    --name|-p|--cap-drop) shift 2 ;;
    --read-only) mounts+="mount -o remount,ro,bind $root;"; shift ;;
    --user) user=$2; shift 2 ;;
    -e) environment+=("$2"); shift 2 ;;
    -v)
      [ -d /volumes/\${2%%:*} ] || { mkdir -p /volumes; cp -a $root\${2##*:} /volumes/\${2%%:*}; }
      mounts+="mount --bind /volumes/\${2%%:*} $root\${2##*:};"; shift 2 ;;
    idsvc:*) shift; break ;;
    *) echo "not known here: $1" >&2; exit 1 ;;
  esac; done
  mkdir -p $container; rm -f $container/pid; echo $user > $container/user
  printf '%s\\n' "\${environment[@]}" > $container/environment
  [ $# -gt 0 ] || set -- ${Cmd.join(" ")}
  # Without capabilities nothing is mounted any more: what is read-only comes first, then the volumes upon it.
  setsid unshare --mount bash -euc "mount --bind $root $root; $mounts
    echo \\$\\$ > $container/pid; exec $0 enter ${Entrypoint.join(" ")} $*" >$container/log 2>&1 &
  until [ -e $container/pid ]; do sleep 0.02; done ;;
exec)
  shift 2; mapfile -t environment < $container/environment; user=$(cat $container/user)
  exec env -i "\${environment[@]}" /usr/bin/nsenter --target $(cat $container/pid) --mount --root --wd --setuid \${user%:*} --setgid \${user#*:} "$@" ;;
enter)
  shift; mapfile -t environment < $container/environment; user=$(cat $container/user)
  exec env -i "\${environment[@]}" /usr/bin/setpriv --reuid \${user%:*} --regid \${user#*:} --clear-groups --bounding-set=-all,+sys_chroot \\
    --inh-caps=-all,+sys_chroot --ambient-caps=-all,+sys_chroot /usr/sbin/chroot $root "$@" ;;
cp) cp /volumes/idsvc/\${2##*/} "$3" ;;
logs) cat $container/log ;;
esac
`;
}
