export * from './portable.ts'
export { clusterPerTest, createTestServer, explore } from './test-server.ts'
