package incus

import "context"

// Card is a GPU as the daemon finds it on the host, without any driver's help.
type Card struct {
	PCI     string // "0000:3b:00.0", as [GPU] takes it
	Vendor  string // "NVIDIA Corporation"
	Product string
	Driver  string // "nvidia"
	UUID    string // "GPU-…"; empty where the NVIDIA driver does not tell
	Numa    int
}

// GPUs lists the host's cards; none is no error.
func (c *Client) GPUs(ctx context.Context) ([]Card, error) {
	var r struct {
		GPU struct {
			Cards []struct {
				PCI     string `json:"pci_address"`
				Vendor  string `json:"vendor"`
				Product string `json:"product"`
				Driver  string `json:"driver"`
				Numa    int    `json:"numa_node"`
				NVIDIA  *struct {
					UUID string `json:"uuid"`
				} `json:"nvidia"`
			} `json:"cards"`
		} `json:"gpu"`
	}
	if err := c.get(ctx, request{path: at("resources")}, &r); err != nil {
		return nil, fail("list the host's GPUs", err)
	}
	var cards []Card
	for _, g := range r.GPU.Cards {
		card := Card{PCI: clean(g.PCI), Vendor: clean(g.Vendor), Product: clean(g.Product), Driver: clean(g.Driver), Numa: g.Numa}
		if g.NVIDIA != nil {
			card.UUID = clean(g.NVIDIA.UUID)
		}
		cards = append(cards, card)
	}
	return cards, nil
}
