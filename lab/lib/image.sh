# shellcheck shell=bash
# Images of about a megabyte from the machine's static busybox, no network
# needed: enough to run a static program. All have a user sglang (uid 1000).
#   tiny    every busybox applet, and nohup
#   bare    the same without setsid and nohup
#   noexec  tiny, with a /tmp that refuses to execute

# make_rootfs DIR VARIANT
make_rootfs() {
  local root=$1 variant=$2
  mkdir -p "$root"/{bin,sbin,etc,proc,sys,dev,run,tmp,root,opt,mnt,srv,home/sglang} "$root"/usr/{bin,sbin} "$root"/var/{log,tmp}
  chmod 1777 "$root/tmp" "$root/var/tmp"
  chown 1000:1000 "$root/home/sglang"
  install -m755 "$(command -v busybox)" "$root/bin/busybox"
  # A busybox shell runs its own applets, in or out of PATH: bare's gets another
  # name, of the same length and place in the sorted list.
  [ "$variant" != bare ] || LC_ALL=C sed -i 's/\x00setsid\x00/\x00setsi_\x00/' "$root/bin/busybox"
  chroot "$root" /bin/busybox --install -s /bin
  ln -s /bin/busybox "$root/sbin/init"
  ln -s /bin/busybox "$root/usr/bin/env"
  # Debian's static busybox has no nohup.
  rm -f "$root/bin/nohup"
  write_file "$root/bin/nohup" 755 '#!/bin/sh' "trap '' HUP" '[ -t 1 ] && exec >>nohup.out' 'exec "$@"'
  [ "$variant" != bare ] || rm -f "$root/bin/setsi_" "$root/bin/nohup"
  [ "$variant" != noexec ] || touch "$root/etc/noexec-tmp"
  write_etc "$root/etc"
}

# write_file PATH MODE LINE…
write_file() {
  local path=$1 mode=$2
  shift 2
  printf '%s\n' "$@" >"$path"
  chmod "$mode" "$path"
}

# write_etc DIR: users, and an init that brings up the network by DHCP.
write_etc() {
  write_file "$1/passwd" 644 root:x:0:0:root:/root:/bin/sh sglang:x:1000:1000:sglang:/home/sglang:/bin/sh nobody:x:65534:65534:nobody:/:/bin/false
  write_file "$1/group" 644 root:x:0: sglang:x:1000: nogroup:x:65534:
  write_file "$1/hosts" 644 '127.0.0.1 localhost'
  write_file "$1/hostname" 644 busybox
  write_file "$1/inittab" 644 ::sysinit:/etc/boot ::respawn:/etc/network ::shutdown:/bin/true
  cat >"$1/boot" <<'END'
#!/bin/sh
ip link set lo up 2>/dev/null
mkdir -p /run /var/log
[ ! -e /etc/noexec-tmp ] || mount -t tmpfs -o noexec,nosuid,nodev,mode=1777 tmpfs /tmp
END
  cat >"$1/network" <<'END'
#!/bin/sh
# DHCP where there is an eth0 without an address; idle otherwise.
if [ -e /sys/class/net/eth0 ] && ! ip -4 addr show dev eth0 | grep -q inet; then
  ip link set eth0 up
  exec udhcpc -f -t 5 -T 1 -A 2 -S -i eth0 -s /etc/udhcpc.script
fi
exec sleep 1000000
END
  cat >"$1/udhcpc.script" <<'END'
#!/bin/sh
case "$1" in
deconfig)
  ip addr flush dev $interface
  ip link set $interface up
  ;;
bound | renew)
  ip addr flush dev $interface
  ip addr add $ip/${mask:-24} dev $interface
  for r in $router; do ip route replace default via $r dev $interface; done
  : >/etc/resolv.conf
  for d in $dns; do echo nameserver $d >>/etc/resolv.conf; done
  ;;
esac
END
  chmod 755 "$1/boot" "$1/network" "$1/udhcpc.script"
}

# make_image VARIANT: $LAB_ROOT/images/VARIANT.tar.gz, in the form that incus
# imports, pct creates from and lxc unpacks; VARIANT.rootfs.tar.gz for podman.
make_image() {
  local out=$LAB_ROOT/images/$1.tar.gz work=$LAB_ROOT/images/$1.work
  [ -f "$out" ] && return 0
  rm -rf "$work"
  mkdir -p "$work"
  make_rootfs "$work/rootfs" "$1"
  write_file "$work/metadata.yaml" 644 "architecture: $(uname -m)" 'creation_date: 1700000000' \
    "properties: {description: lab $1, os: busybox, release: lab}"
  tar -C "$work/rootfs" --numeric-owner -I 'gzip -1' -cf "${out%.tar.gz}.rootfs.tar.gz" .
  tar -C "$work" --numeric-owner -I 'gzip -1' -cf "$out.new" metadata.yaml rootfs
  mv "$out.new" "$out"
  rm -rf "$work"
}

make_images() {
  local variant
  for variant in tiny bare noexec; do make_image "$variant"; done
}
