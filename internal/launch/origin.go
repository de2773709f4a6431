package launch

// Origin says which container an instance lives in: an existing one, or a
// fresh one that is made for this instance alone and removed with it. The zero
// Origin is the bare machine. At most one of Instance, Image and CopyOf is set.
type Origin struct {
	Instance string // an existing container, which stays
	Image    string // a fresh container is made from it
	CopyOf   string // a fresh container is a copy of this one

	// Of a fresh container, in the container tool's own words.
	Config  map[string]string
	Devices map[string]map[string]string
}

// Fresh tells whether the instance has a container of its own.
func (o Origin) Fresh() bool { return o.Image != "" || o.CopyOf != "" }
