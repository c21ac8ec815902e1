// A client of the daemon that knows Varlink and nothing of Larder: lists, loads, waits, and is refused.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/varlink/go/varlink"
)

type source struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

type answer struct {
	Done *struct {
		Files int64 `json:"files"`
		Bytes int64 `json:"bytes"`
	} `json:"done"`
	Arrays []struct {
		Name  string  `json:"name"`
		Dtype string  `json:"dtype"`
		Shape []int64 `json:"shape"`
		State string  `json:"state"`
	} `json:"arrays"`
}

func require(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	connection, err := varlink.NewConnection(ctx, "unix:"+os.Args[1])
	require(err)
	defer connection.Close()
	var vendor, product, version, url string
	var interfaces []string
	require(connection.GetInfo(ctx, &vendor, &product, &version, &url, &interfaces))
	fmt.Println(vendor, interfaces)
	description, err := connection.GetInterfaceDescription(ctx, "dev.larder.Store")
	require(err)
	require(os.WriteFile(os.Args[3], []byte(description), 0644))

	load := map[string]any{"sources": []source{{"digits", os.Args[2]}}}
	receive, err := connection.Send(ctx, "dev.larder.Store.Load", load, varlink.More)
	require(err)
	for flags := uint64(varlink.Continues); flags&varlink.Continues != 0; {
		var reply answer
		flags, err = receive(ctx, &reply)
		require(err)
		if reply.Done != nil {
			fmt.Println("loaded", reply.Done.Files, reply.Done.Bytes)
		}
	}
	var waited answer
	require(connection.Call(ctx, "dev.larder.Store.Wait", map[string]any{"name": "digits", "timeoutMs": 60000}, &waited))
	fmt.Println("resident", waited.Done.Files)
	var listed answer
	require(connection.Call(ctx, "dev.larder.Store.List", map[string]any{}, &listed))
	for _, array := range listed.Arrays {
		fmt.Println(array.Name, array.Dtype, array.Shape, array.State)
	}
	err = connection.Call(ctx, "dev.larder.Store.Info", map[string]any{"name": "digit"}, &listed)
	fmt.Println(err.(*varlink.Error).Name)
}
