package remote

// meaning is what sweep makes of a keyword of ssh_config(5).
type meaning int

const (
	unknownKeyword meaning = iota
	followed               // resolve reads it
	harmless               // does not change how the host is reached without a person
)

// keyword tells what is made of a keyword. One that is unknown here is told to
// the user: silently leaving out a thing that matters would be a riddle.
func keyword(name string) meaning {
	switch name {
	case "hostname", "user", "port", "identityfile", "identitiesonly", "identityagent", "proxyjump", "proxycommand",
		"userknownhostsfile", "globalknownhostsfile", "hostkeyalias", "hashknownhosts", "stricthostkeychecking",
		"connecttimeout", "serveraliveinterval", "serveralivecountmax":
		return followed
	case "addkeystoagent", "batchmode", "canonicaldomains", "canonicalizefallbacklocal", "canonicalizemaxdots",
		"canonicalizepermittedcnames", "casignaturealgorithms", "channeltimeout", "checkhostip", "ciphers",
		"clearallforwardings", "compression", "connectionattempts", "controlmaster", "controlpath", "controlpersist",
		"dynamicforward", "enableescapecommandline", "enablesshkeysign", "escapechar", "exitonforwardfailure",
		"fingerprinthash", "forkafterauthentication", "forwardagent", "forwardx11", "forwardx11timeout",
		"forwardx11trusted", "gatewayports", "gssapiauthentication", "gssapidelegatecredentials",
		"gssapikeyexchange", "gssapirenewalforcesrekey", "gssapitrustdns", "hostbasedacceptedalgorithms",
		"hostbasedauthentication", "hostbasedkeytypes", "hostkeyalgorithms", "ignoreunknown", "ipqos",
		"kbdinteractiveauthentication", "challengeresponseauthentication", "kbdinteractivedevices", "kexalgorithms",
		"localcommand", "localforward", "loglevel", "logverbose", "macs", "nohostauthenticationforlocalhost",
		"numberofpasswordprompts", "obscurekeystroketiming", "passwordauthentication", "permitlocalcommand",
		"permitremoteopen", "preferredauthentications", "pubkeyacceptedalgorithms", "pubkeyacceptedkeytypes",
		"pubkeyauthentication", "rekeylimit", "remoteforward", "requesttty", "requiredrsasize", "revokedhostkeys",
		"sendenv", "sessiontype", "setenv", "stdinnull", "streamlocalbindmask", "streamlocalbindunlink", "syslogfacility",
		"tag", "tcpkeepalive", "tunnel", "tunneldevice", "updatehostkeys", "usekeychain", "verifyhostkeydns",
		"versionaddendum", "visualhostkey", "warnweakcrypto", "xauthlocation":
		return harmless
	}
	return unknownKeyword
}
