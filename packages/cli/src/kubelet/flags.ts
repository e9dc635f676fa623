import { addOptionGroup, type Command, option } from '../commander.ts'
import { list } from '../flag-values.ts'

/** Adds the flags of connections to kubelets, named as those of kube-apiserver. */
export function addKubeletFlags(command: Command): Command {
  return addOptionGroup(command, 'Misc', [
    option('--kubelet-certificate-authority <file>', 'PEM authorities of kubelets; default: their certificates are not verified'),
    option('--kubelet-client-certificate <file>', 'PEM client certificate for requests to kubelets; reloaded when it changes'),
    option('--kubelet-client-key <file>', 'PEM private key of --kubelet-client-certificate'),
    option('--kubelet-preferred-address-types <types>', 'types of node addresses for connections to kubelets, preferred first')
      .default(['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'])
      .argParser((text) => list(text)),
  ])
}
