import type { Sample } from './index.ts'

const selector = { app: 'web' }

export const networkAndStorage: Readonly<Record<string, readonly Sample[]>> = {
  'v1/services': [
    { spec: { selector, ports: [{ port: 80 }] } },
    {
      spec: {
        type: 'LoadBalancer',
        selector,
        ports: [
          { name: 'http', port: 80, targetPort: 'web', protocol: 'TCP', appProtocol: 'http' },
          { name: 'dns', port: 53, targetPort: 53, protocol: 'UDP' },
        ],
        externalTrafficPolicy: 'Local',
        internalTrafficPolicy: 'Cluster',
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 100 } },
        loadBalancerSourceRanges: ['1.2.3.0/24'],
        externalIPs: ['1.2.3.4'],
        ipFamilyPolicy: 'PreferDualStack',
      },
    },
    { spec: { type: 'ExternalName', externalName: 'a.example.com' } },
    { spec: { clusterIP: 'None', selector, ports: [{ port: 80 }], publishNotReadyAddresses: true } },
    { spec: { type: 'NodePort', selector, ports: [{ port: 80 }] } },
  ],
  'v1/endpoints': [
    {
      subsets: [
        {
          addresses: [{ ip: '1.2.3.4', hostname: 'h', targetRef: { kind: 'Pod', name: 'p', namespace: 'n' } }],
          notReadyAddresses: [{ ip: '1.2.3.5' }],
          ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
        },
      ],
    },
  ],
  'discovery.k8s.io/v1/endpointslices': [
    {
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['1.2.3.4'],
          conditions: { ready: true },
          hostname: 'h',
          nodeName: 'n',
          zone: 'z',
          hints: { forZones: [{ name: 'z' }] },
          targetRef: { kind: 'Pod', name: 'p' },
        },
      ],
      ports: [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'http' }],
    },
  ],
  'networking.k8s.io/v1/ingresses': [
    {
      spec: {
        ingressClassName: 'c',
        defaultBackend: { service: { name: 's', port: { number: 80 } } },
        tls: [{ hosts: ['a.example.com'], secretName: 't' }],
        rules: [
          {
            host: 'a.example.com',
            http: {
              paths: [
                { path: '/x', pathType: 'Prefix', backend: { service: { name: 's', port: { name: 'http' } } } },
                { path: '/y', pathType: 'Exact', backend: { resource: { apiGroup: 'example.com', kind: 'Bucket', name: 'b' } } },
              ],
            },
          },
        ],
      },
    },
  ],
  'networking.k8s.io/v1/ingressclasses': [
    {
      spec: {
        controller: 'example.com/c',
        parameters: { apiGroup: 'example.com', kind: 'P', name: 'p', scope: 'Namespace', namespace: 'n' },
      },
    },
  ],
  'networking.k8s.io/v1/networkpolicies': [
    {
      spec: {
        podSelector: { matchLabels: selector },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          {
            from: [{ namespaceSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
            ports: [{ port: 80, endPort: 90, protocol: 'TCP' }],
          },
        ],
        egress: [{ to: [{ podSelector: {} }], ports: [{ port: 'http' }] }],
      },
    },
  ],
  'v1/persistentvolumes': [
    {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: 's',
        volumeMode: 'Filesystem',
        mountOptions: ['ro'],
        hostPath: { path: '/data' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }] } },
        claimRef: { namespace: 'n', name: 'c' },
      },
    },
    {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadOnlyMany'],
        csi: {
          driver: 'd.example.com',
          volumeHandle: 'h',
          fsType: 'ext4',
          volumeAttributes: { a: 'b' },
          nodePublishSecretRef: { name: 's', namespace: 'n' },
        },
      },
    },
    { spec: { capacity: { storage: '5Gi' }, accessModes: ['ReadWriteMany'], nfs: { server: 's', path: '/p', readOnly: true } } },
  ],
  'v1/persistentvolumeclaims': [
    {
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
        storageClassName: 's',
        volumeMode: 'Block',
        volumeName: 'v',
        selector: { matchLabels: selector },
        dataSource: { kind: 'PersistentVolumeClaim', name: 'o' },
      },
    },
  ],
  'storage.k8s.io/v1/storageclasses': [
    {
      provisioner: 'example.com/p',
      parameters: { a: 'b' },
      reclaimPolicy: 'Retain',
      mountOptions: ['ro'],
      allowVolumeExpansion: true,
      volumeBindingMode: 'WaitForFirstConsumer',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'z', values: ['a'] }] }],
    },
  ],
  'storage.k8s.io/v1/csidrivers': [
    {
      spec: {
        attachRequired: false,
        podInfoOnMount: true,
        fsGroupPolicy: 'File',
        storageCapacity: true,
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
        tokenRequests: [{ audience: 'a', expirationSeconds: 600 }],
        requiresRepublish: true,
        seLinuxMount: true,
      },
    },
  ],
  'storage.k8s.io/v1/csinodes': [
    { spec: { drivers: [{ name: 'd.example.com', nodeID: 'n', topologyKeys: ['a'], allocatable: { count: 3 } }] } },
  ],
  'storage.k8s.io/v1/csistoragecapacities': [
    { storageClassName: 's', capacity: '1Gi', maximumVolumeSize: '1Gi', nodeTopology: { matchLabels: selector } },
  ],
  'storage.k8s.io/v1/volumeattachments': [
    { spec: { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
  ],
}
