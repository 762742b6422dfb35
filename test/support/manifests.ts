// SPDX-License-Identifier: Apache-2.0
//
// The parts of Kubernetes' manifests that tests look at. Their types are judged elsewhere.
import type { Manifest } from './charts.js';

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds?: number;
  readonly failureThreshold?: number;
}

export interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly limits: Readonly<Record<string, unknown>> };
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface Volume {
  readonly name: string;
  readonly secret?: {
    readonly secretName: string;
    readonly defaultMode: number;
    readonly items: readonly { readonly key: string; readonly path: string }[];
  };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly terminationGracePeriodSeconds: number;
  readonly runtimeClassName?: string;
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
}

type Labels = Readonly<Record<string, string>>;

/** A StatefulSet or Deployment. */
export interface Workload {
  readonly kind: string;
  readonly name: string;
  readonly replicas: number | undefined;
  readonly selector: Labels;
  readonly labels: Labels;
  readonly pod: PodSpec;
  readonly container: Container;
  readonly settings: Readonly<Record<string, string>>;
  /** Of claims, in addition to those of the pod. */
  readonly claims: readonly string[];
}

export function workloadsOf(manifests: readonly Manifest[]): Workload[] {
  return manifests
    .filter(({ kind }) => ['StatefulSet', 'Deployment'].includes(kind))
    .map(({ kind, metadata: { name }, spec }) => {
      const { replicas, selector, template, volumeClaimTemplates } = spec as unknown as {
        replicas?: number;
        selector: { matchLabels: Labels };
        template: { metadata: { labels: Labels }; spec: PodSpec };
        volumeClaimTemplates?: { metadata: { name: string } }[];
      };
      const [container, ...others] = template.spec.containers;
      if (container === undefined || others.length > 0) throw new Error(`Expected one container in ${name}.`);
      return {
        ...{ kind, name, replicas, container },
        selector: selector.matchLabels,
        labels: template.metadata.labels,
        pod: template.spec,
        settings: Object.fromEntries(container.env.map((entry) => [entry.name, entry.value])),
        claims: volumeClaimTemplates?.map(({ metadata }) => metadata.name) ?? [],
      };
    });
}

/** Workloads whose pods have all these labels. */
export const selected = (workloads: readonly Workload[], labels: Labels): Workload[] =>
  workloads.filter((workload) =>
    Object.entries(labels).every(([name, value]) => workload.labels[name] === value),
  );
