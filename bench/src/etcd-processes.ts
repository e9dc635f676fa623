import { EtcdProcess } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { StockServer } from '../../tests/etcd/stock-server.ts'

/** Starts the etcd that `KRMKIT_ETCD` names, with new data. */
export function startEtcd(): Promise<EtcdProcess> {
  return EtcdProcess.start(process.env.KRMKIT_ETCD ?? '')
}

/** Starts kube-apiserver that `KRMKIT_KUBE_APISERVER` names, on an etcd. */
export function startStock(options: {
  readonly etcd: string
  readonly folder: string
  readonly token: string
}): Promise<StockServer> {
  return StockServer.start(process.env.KRMKIT_KUBE_APISERVER ?? '', options)
}
