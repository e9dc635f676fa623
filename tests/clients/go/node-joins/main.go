// Command node-joins does with a cluster what a kubelet does before it runs anything: it asks for a client certificate with a
// bootstrap token, becomes a node by it, renews it in its own name, and says what it is then.
package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"time"

	authentication "k8s.io/api/authentication/v1"
	certificates "k8s.io/api/certificates/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/certificate"
	"k8s.io/client-go/util/certificate/csr"
)

type report struct {
	First   authentication.UserInfo `json:"first"`
	Renewed authentication.UserInfo `json:"renewed"`
	Node    string                  `json:"node"`
	// Seconds from now to the end of the renewed certificate.
	LeftSeconds float64 `json:"leftSeconds"`
}

func main() {
	if len(os.Args) != 6 {
		fail(fmt.Errorf("usage: node-joins SERVER CA-FILE TOKEN NODE FOLDER"))
	}
	config := &rest.Config{Host: os.Args[1], TLSClientConfig: rest.TLSClientConfig{CAFile: os.Args[2]}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	name, folder := os.Args[4], os.Args[5]

	first, err := join(ctx, config, os.Args[3], name, folder)
	fail(err)
	var said report
	said.First, err = who(ctx, clientOf(config, first))
	fail(err)

	renewed, err := renew(ctx, clientOf(config, first), name)
	fail(err)
	said.LeftSeconds = time.Until(renewed.Leaf.NotAfter).Seconds()
	client := clientOf(config, renewed)
	said.Renewed, err = who(ctx, client)
	fail(err)
	node, err := client.CoreV1().Nodes().Create(ctx, &core.Node{ObjectMeta: meta.ObjectMeta{Name: name}}, meta.CreateOptions{})
	fail(err)
	said.Node = node.Name
	fail(json.NewEncoder(os.Stdout).Encode(said))
}

// join keeps a certificate as a kubelet does: a manager asks for it and stores it.
func join(ctx context.Context, config *rest.Config, token, name, folder string) (*tls.Certificate, error) {
	store, err := certificate.NewFileStore("kubelet-client", folder, folder, "", "")
	if err != nil {
		return nil, err
	}
	manager, err := certificate.NewManager(&certificate.Config{
		ClientsetFn: func(current *tls.Certificate) (kubernetes.Interface, error) {
			if current != nil {
				return clientOf(config, current), nil
			}
			joining := rest.CopyConfig(config)
			joining.BearerToken = token
			return kubernetes.NewForConfig(joining)
		},
		Template:         request(name),
		SignerName:       certificates.KubeAPIServerClientKubeletSignerName,
		GetUsages:        certificate.DefaultKubeletClientGetUsages,
		CertificateStore: store,
	})
	if err != nil {
		return nil, err
	}
	manager.Start()
	defer manager.Stop()
	for manager.Current() == nil {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return manager.Current(), nil
}

// renew asks for another certificate in the name of the node.
func renew(ctx context.Context, client kubernetes.Interface, name string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, request(name), key)
	if err != nil {
		return nil, err
	}
	asked := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	hour := time.Hour
	usages := certificate.DefaultKubeletClientGetUsages(key)
	id, uid, err := csr.RequestCertificate(client, asked, "", certificates.KubeAPIServerClientKubeletSignerName, &hour, usages, key)
	if err != nil {
		return nil, err
	}
	signed, err := csr.WaitForCertificate(ctx, client, id, types.UID(uid))
	if err != nil {
		return nil, err
	}
	return pairOf(signed, key)
}

func pairOf(signed []byte, key crypto.PrivateKey) (*tls.Certificate, error) {
	block, _ := pem.Decode(signed)
	if block == nil {
		return nil, fmt.Errorf("no certificate in %q", signed)
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{block.Bytes}, PrivateKey: key, Leaf: leaf}, nil
}

func request(name string) *x509.CertificateRequest {
	return &x509.CertificateRequest{
		Subject: pkix.Name{Organization: []string{"system:nodes"}, CommonName: "system:node:" + name},
	}
}

func clientOf(config *rest.Config, pair *tls.Certificate) kubernetes.Interface {
	own := rest.CopyConfig(config)
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	fail(err)
	own.TLSClientConfig.CertData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	own.TLSClientConfig.KeyData = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	client, err := kubernetes.NewForConfig(own)
	fail(err)
	return client
}

func who(ctx context.Context, client kubernetes.Interface) (authentication.UserInfo, error) {
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authentication.SelfSubjectReview{}, meta.CreateOptions{})
	if err != nil {
		return authentication.UserInfo{}, err
	}
	return review.Status.UserInfo, nil
}

func fail(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
