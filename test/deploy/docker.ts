import { settings } from "../../.ci/image.ts";

/**
 * A `docker` that does with an image what its configuration and the options of `run` say, where no daemon runs: the root from
 * the layers, read-only where that is asked for, volumes, environment, the user, no capability, and a network whose containers
 * know each other by their names. An image of somebody else is a program of the machine instead, `/images/<name>/start`.
 */
export function docker(): string {
  const { Env, Entrypoint, Cmd, User } = settings;
  return `#!/bin/bash -eu
image=/images/idsvc containers=/run/containers
# Leads to what a container has said of itself.
of() { container=$containers/$1; mapfile -t environment < $container/environment; . $container/state; }
case $1 in
load)
  [ "$2" = -i ]; mkdir -p $image/root; tar -xf "$3" -C $image
  for layer in $(grep -o '"Layers":\\[[^]]*' $image/manifest.json | grep -o 'blobs/[^"]*'); do tar -xzf $image/$layer -C $image/root; done
  touch $image/root/etc/hosts ;;
network)
  [ "$2 $3" = "create --subnet" ]; mkdir -p /run/networks; echo "subnet=\${4%.*} last=1" > /run/networks/$5
  ip link add $5 type bridge; ip address add \${4%.*}.1/24 dev $5; ip link set $5 up ;;
run)
  shift; environment=() volumes=() user= network= readonly= hosts=
  while :; do case $1 in
    -d) shift ;;
    -p|--cap-drop|--security-opt) shift 2 ;;
    --name) container=$containers/$2 name=$2; shift 2 ;;
    --network) . /run/networks/$2; network=$2; shift 2 ;;
    --read-only) readonly=1; shift ;;
    --user) user=$2; shift 2 ;;
    -e) environment+=("$2"); shift 2 ;;
    -v) volumes+=("$2"); shift 2 ;;
    -*) echo "not known here: $1" >&2; exit 1 ;;
    *) break ;;
  esac; done
  root= mounts= begin=
  case $1 in
    idsvc:*)
      root=$image/root user=\${user:-${User}} environment=(${Env.join(" ")} "\${environment[@]}"); shift
      [ $# -gt 0 ] || set -- ${Cmd.join(" ")}
      set -- $0 enter $name ${Entrypoint.join(" ")} "$@"; mounts="mount --bind $root $root;" ;;
    *) set -- /usr/bin/env "PATH=$PATH" "\${environment[@]}" /images/\${1%%:*}/start ;;
  esac
  if [ -n "$network" ]; then
    begin="ip netns exec $name" hosts=/etc/hosts; echo "subnet=$subnet last=$((last + 1))" > /run/networks/$network
    ip netns add $name; ip link add $name type veth peer name eth0 netns $name; ip link set $name master $network up
    ip -n $name address add $subnet.$((last + 1))/24 dev eth0; ip -n $name link set eth0 up; ip -n $name link set lo up
    ip -n $name route add default via $subnet.1
    echo "$subnet.$((last + 1)) $name" >> $hosts; volumes+=($hosts:/etc/hosts)
  fi
  # Mount points first, as a root may be read-only afterwards; without capabilities nothing is mounted any more.
  for each in "\${volumes[@]}"; do
    IFS=: read -r from to mode <<< "$each"
    case $from in
      /*) [ -d $from ] && mkdir -p $root$to || { mkdir -p $(dirname $root$to); touch $root$to; } ;;
      *) from=/volumes/$from; mkdir -p /volumes $root$to; [ -d $from ] || cp -a $root$to $from ;;
    esac
    binds="\${binds-} mount --bind \${mode:+-o $mode} $from $root$to;"
  done
  mkdir -p $container; rm -f $container/pid; printf '%s\\n' "\${environment[@]}" > $container/environment
  echo "root=$root user=$user" > $container/state
  setsid $begin unshare --mount bash -euc "$mounts \${readonly:+mount -o remount,ro,bind $root;} \${binds-}
    echo \\$\\$ > $container/pid; exec \\"\\$@\\"" - "$@" >$container/log 2>&1 &
  until [ -e $container/pid ]; do sleep 0.02; done ;;
exec)
  of $2; shift 2; into="/usr/bin/nsenter --target $(cat $container/pid) --mount --net --root --wd"
  [ -n "$user" ] || exec $into env "\${environment[@]}" "$@"
  exec env -i "\${environment[@]}" $into --setuid \${user%:*} --setgid \${user#*:} "$@" ;;
enter)
  of $2; shift 2
  exec env -i "\${environment[@]}" /usr/bin/setpriv --reuid \${user%:*} --regid \${user#*:} --clear-groups --bounding-set=-all,+sys_chroot \\
    --inh-caps=-all,+sys_chroot --ambient-caps=-all,+sys_chroot /usr/sbin/chroot $root "$@" ;;
cp) cp /proc/$(cat $containers/\${2%%:*}/pid)/root\${2#*:} "$3" ;;
logs) cat $containers/$2/log ;;
esac
`;
}

/** A function of a shell: `wait_for <container> <command>` until that succeeds, and for no container that has ended. */
export const waitFor = `
wait_for() {
  local name=$1; shift
  until "$@" >/dev/null 2>&1; do
    kill -0 $(cat /run/containers/$name/pid) || { docker logs $name; exit 1; }
    sleep 0.2
  done
}`;
