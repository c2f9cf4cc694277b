// The operations of a controller written with JavaScript's `@kubernetes/client-node`, against the server in the kubeconfig.
//
// Prints one line for each part that succeeds, and exits at the first failure.

import assert from 'node:assert/strict';
import * as k8s from '@kubernetes/client-node';

const namespace = 'default';
const labels = { client: 'javascript' };
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);

const configMap = (name, data) => ({ metadata: { name, labels }, data });
const create = (name, data) => core.createNamespacedConfigMap({ namespace, body: configMap(name, data) });
const refused = (code) => (error) => error.code === code;

async function createOnce() {
  const made = await create('made', { color: 'red' });
  assert.ok(made.metadata.uid);
  await assert.rejects(create('made', {}), refused(409));
  console.log('create');
}

/** Every object comes once: from the list, or from the watch that goes on where the list ended. */
async function listAndWatch() {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const labelSelector = 'client=javascript';
  const seen = [];
  let deleted;
  const end = new Promise((resolve) => (deleted = resolve));
  const list = () => core.listNamespacedConfigMap({ namespace, labelSelector });
  const informer = k8s.makeInformer(config, path, list, labelSelector);
  informer.on('add', (object) => seen.push(`add ${object.metadata.name}`));
  informer.on('update', (object) => seen.push(`update ${object.metadata.name}`));
  informer.on('delete', (object) => {
    seen.push(`delete ${object.metadata.name}`);
    deleted();
  });
  await informer.start();
  await create('later', {});
  const later = await core.readNamespacedConfigMap({ namespace, name: 'later' });
  later.data = { color: 'blue' };
  await core.replaceNamespacedConfigMap({ namespace, name: 'later', body: later });
  await core.deleteNamespacedConfigMap({ namespace, name: 'later' });
  await end;
  await informer.stop();
  assert.deepEqual(seen, ['add made', 'add later', 'update later', 'delete later']);
  console.log('list+watch');
}

async function updateAfterConflict() {
  const name = 'made';
  const stale = await core.readNamespacedConfigMap({ namespace, name });
  const fresh = await core.readNamespacedConfigMap({ namespace, name });
  fresh.data.size = 'large';
  await core.replaceNamespacedConfigMap({ namespace, name, body: fresh });
  stale.data.color = 'green';
  await assert.rejects(core.replaceNamespacedConfigMap({ namespace, name, body: stale }), refused(409));
  const again = await core.readNamespacedConfigMap({ namespace, name });
  again.data.color = 'green';
  const updated = await core.replaceNamespacedConfigMap({ namespace, name, body: again });
  assert.deepEqual(updated.data, { color: 'green', size: 'large' });
  console.log('update conflict');
}

/** Server-side apply by two managers. */
async function apply() {
  const objects = k8s.KubernetesObjectApi.makeApiClient(config);
  const send = (manager, force, data) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', namespace }, data };
    return objects.patch(body, undefined, undefined, manager, force, k8s.PatchStrategy.ServerSideApply);
  };
  await send('one', false, { a: '1', b: '1' });
  await send('two', false, { c: '2' });
  await assert.rejects(send('two', false, { a: '2', c: '2' }), refused(409));
  const taken = await send('two', true, { a: '2', c: '2' });
  assert.deepEqual(taken.data, { a: '2', b: '1', c: '2' });
  const left = await send('one', false, {});
  assert.deepEqual(left.data, { a: '2', c: '2' });
  console.log('apply');
}

/** The package has no election of its own; this is the usual one on a lease: who writes first leads, until it lets go. */
async function lead() {
  const coordination = config.makeApiClient(k8s.CoordinationV1Api);
  const name = 'leader';
  const spec = (holderIdentity) => ({ holderIdentity, leaseDurationSeconds: 15, renewTime: new k8s.V1MicroTime() });
  await coordination.createNamespacedLease({ namespace, body: { metadata: { name }, spec: spec('one') } });
  const seen = await coordination.readNamespacedLease({ namespace, name });
  const take = async (lease, identity) => {
    const body = { ...lease, spec: { ...lease.spec, ...spec(identity) } };
    return coordination.replaceNamespacedLease({ namespace, name, body });
  };
  const renewed = await take(seen, 'one');
  await assert.rejects(take(seen, 'two'), refused(409));
  const released = await take(renewed, '');
  const [first, second] = await Promise.allSettled([take(released, 'two'), take(released, 'three')]);
  assert.deepEqual([first.status, second.status].sort(), ['fulfilled', 'rejected']);
  console.log('leader election');
}

await createOnce();
await listAndWatch();
await updateAfterConflict();
await apply();
await lead();
