package incus

// Disk mounts a path of the host. With shift its owners are the same inside: an
// unprivileged container sees nobody's files otherwise, and cannot write.
func Disk(source, path string, readonly, shift bool) map[string]string {
	d := map[string]string{"type": "disk", "source": source, "path": path}
	if readonly {
		d["readonly"] = "true"
	}
	if shift {
		d["shift"] = "true"
	}
	return d
}

// GPU passes one card by its PCI address, such as "0000:3b:00.0"; all of them
// when that is empty. Whether it is there is found out at the start.
func GPU(pci string) map[string]string {
	d := map[string]string{"type": "gpu"}
	if pci != "" {
		d["pci"] = pci
	}
	return d
}

// Proxy listens on the host and connects inside; both as "tcp:ADDRESS:PORT". A
// connection to it succeeds with nobody behind it: only an answer is a sign.
func Proxy(listen, connect string) map[string]string {
	return map[string]string{"type": "proxy", "listen": listen, "connect": connect, "bind": "host"}
}

// CharDevice passes a character device of the host.
func CharDevice(source, path string) map[string]string {
	return map[string]string{"type": "unix-char", "source": source, "path": path}
}

// NIC connects an interface to a network that Incus manages.
func NIC(network, name string) map[string]string {
	return map[string]string{"type": "nic", "network": network, "name": name}
}
