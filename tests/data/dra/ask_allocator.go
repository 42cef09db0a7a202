// Asks Kubernetes' own device allocator about pools of devices: one JSON object a line in, one out.
//
// Input: slices, allocation results that are held, nodes, and the values of the attribute "slot" that
// each device carries. Output: by node, the slots that a claim for just that device would be given.
// How allocator.jsonl was made from it: see README.md here.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

type lister struct{ c *resourceapi.DeviceClass }

func (l lister) List() ([]*resourceapi.DeviceClass, error) {
	return []*resourceapi.DeviceClass{l.c}, nil
}
func (l lister) Get(n string) (*resourceapi.DeviceClass, error) { return l.c, nil }

type input struct {
	Slices []*resourceapi.ResourceSlice
	Held   []resourceapi.DeviceRequestAllocationResult
	Nodes  []*v1.Node
	Slots  []string
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<26)
	cache := cel.NewCache(1000, cel.Features{})
	class := &resourceapi.DeviceClass{}
	class.Name = "c"
	ctx := context.Background()
	for in.Scan() {
		var i input
		if err := json.Unmarshal(in.Bytes(), &i); err != nil {
			panic(err)
		}
		state := structured.AllocatedState{AllocatedDevices: sets.New[structured.DeviceID](), AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](), AggregatedCapacity: structured.NewConsumedCapacityCollection()}
		for _, r := range i.Held {
			if r.AdminAccess != nil && *r.AdminAccess {
				continue
			}
			id := structured.MakeDeviceID(r.Driver, r.Pool, r.Device)
			if r.ShareID != nil {
				state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, r.ShareID))
				if r.ConsumedCapacity != nil {
					state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, r.ConsumedCapacity))
				}
				continue
			}
			state.AllocatedDevices.Insert(id)
		}
		features := structured.Features{AdminAccess: true, PrioritizedList: true, PartitionableDevices: true, DeviceTaints: true, DeviceBindingAndStatus: true, ConsumableCapacity: true}
		out := map[string][]string{}
		alloc, err := structured.NewAllocator(ctx, features, state, lister{class}, i.Slices, cache)
		if err != nil {
			panic(err)
		}
		for _, node := range i.Nodes {
			out[node.Name] = []string{}
			for _, slot := range i.Slots {
				claim := &resourceapi.ResourceClaim{}
				claim.Name = "x"
				claim.Spec.Devices.Requests = []resourceapi.DeviceRequest{{Name: "r", Exactly: &resourceapi.ExactDeviceRequest{DeviceClassName: "c", AllocationMode: "ExactCount", Count: 1, Selectors: []resourceapi.DeviceSelector{{CEL: &resourceapi.CELDeviceSelector{Expression: fmt.Sprintf(`device.attributes["gpu.example.com"].slot == "%s"`, slot)}}}}}}
				res, err := alloc.Allocate(ctx, node, []*resourceapi.ResourceClaim{claim})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
				if err == nil && len(res) == 1 {
					out[node.Name] = append(out[node.Name], slot)
				}
			}
		}
		b, _ := json.Marshal(out)
		fmt.Println(string(b))
	}
}
