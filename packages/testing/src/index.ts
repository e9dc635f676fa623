export * from './browser.ts'
export { clusterPerTest, createTestServer, explore } from './test-server.ts'
