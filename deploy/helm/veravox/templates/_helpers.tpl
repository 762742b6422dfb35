{{- define "veravox.name" -}}
{{- if contains "veravox" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-veravox{{ end }}
{{- end }}

{{- define "veravox.serverName" -}}
{{ include "veravox.name" . | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "veravox.workerName" -}}
{{ include "veravox.serverName" . }}-worker
{{- end }}

{{/* Labels of all that belongs to the release. */}}
{{- define "veravox.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/name: veravox
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels that select the pods of a component: (list . "server"). */}}
{{- define "veravox.selector" -}}
app.kubernetes.io/name: veravox
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "veravox.hasWorkers" -}}
{{- if or .Values.worker.autoscaling.enabled (gt (int .Values.worker.replicas) 0) }}yes{{ end }}
{{- end }}

{{/* Contradictions that the schema cannot name. */}}
{{- define "veravox.check" -}}
{{- if and .Values.secretKeys (not .Values.existingSecret) }}
{{- fail "secretKeys are keys of a Secret: set existingSecret to its name." }}
{{- end }}
{{- $several := or .Values.server.autoscaling.enabled (gt (int .Values.server.replicas) 1) (include "veravox.hasWorkers" .) }}
{{- if and $several (not (and (has "VERAVOX_DATABASE_URL" .Values.secretKeys) .Values.settings.VERAVOX_STORAGE_BUCKET)) }}
{{- fail "Several servers, and workers, share a PostgreSQL database and a bucket: set existingSecret, VERAVOX_DATABASE_URL in secretKeys, and settings.VERAVOX_STORAGE_BUCKET." }}
{{- end }}
{{- end }}

{{/* The settings of a component. */}}
{{- define "veravox.environment" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 }}
{{- $values := $root.Values }}
{{- $isIdle := and (eq $component "server") (include "veravox.hasWorkers" $root) }}
{{- $settings := dict
  "VERAVOX_ADMIN_ADDRESS" "0.0.0.0:9090"
  "VERAVOX_DEVICE" (ternary $values.gpu.device "cpu" (gt (int (index $values $component).gpus) 0))
  "VERAVOX_JOB_WORKERS" (ternary 0 (int $values.jobs) (not (empty $isIdle)))
  "VERAVOX_STOP_GRACE_MS" (int $values.stopGraceMs)
  "VERAVOX_STOP_DRAIN_MS" (int $values.stopDrainMs) }}
{{- if and $values.ingress.enabled (not $values.settings.VERAVOX_STORAGE_BUCKET) }}
{{- $_ := set $settings "VERAVOX_STORAGE_PUBLIC_URL" (printf "%s://%s" (ternary "https" "http" (not (empty $values.ingress.tlsSecret))) $values.ingress.host) }}
{{- end }}
{{- range $values.secretKeys }}
{{- $_ := set $settings (printf "%s_FILE" .) (printf "/run/secrets/veravox/%s" .) }}
{{- end }}
{{- range $name, $value := merge (dict) $values.settings $settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* The pods of a component. Both have the operators' port, with the probes and the metrics. */}}
{{- define "veravox.pod" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 }}
{{- $values := $root.Values }}
{{- $own := index $values $component }}
{{- $hasGpu := gt (int $own.gpus) 0 }}
metadata:
  labels:
    {{- include "veravox.selector" . | nindent 4 }}
spec:
  serviceAccountName: {{ $values.serviceAccountName }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add 5 (ceil (divf (add $values.stopGraceMs $values.stopDrainMs) 1000)) }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- with $values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if and $hasGpu $values.gpu.runtimeClassName }}
  runtimeClassName: {{ $values.gpu.runtimeClassName }}
  {{- end }}
  {{- with $own.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ $component }}
      image: "{{ $values.image.repository }}:{{ $values.image.tag | default $root.Chart.AppVersion }}"
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [{{ ternary "serve" "work" (eq $component "server") }}]
      env:
        {{- include "veravox.environment" . | trim | nindent 8 }}
      ports:
        {{- if eq $component "server" }}
        - { name: http, containerPort: 8080 }
        {{- end }}
        - { name: operators, containerPort: 9090 }
      # Five minutes to load models and warm up a GPU.
      startupProbe:
        httpGet: { path: /livez, port: operators }
        periodSeconds: 2
        failureThreshold: 150
      livenessProbe:
        httpGet: { path: /livez, port: operators }
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: operators }
        periodSeconds: 5
        timeoutSeconds: 5
      resources:
        {{- $limits := $own.resources.limits | default dict }}
        {{- if $hasGpu }}{{ $limits = merge (dict $values.gpu.resource (int $own.gpus)) $limits }}{{ end }}
        {{- toYaml (merge (dict "limits" $limits) $own.resources) | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: data, mountPath: /var/lib/veravox }
        # For backups on their way out, and for `veravox doctor --privacy`.
        - { name: tmp, mountPath: /tmp }
        {{- if $values.secretKeys }}
        - { name: secrets, mountPath: /run/secrets/veravox, readOnly: true }
        {{- end }}
  {{- $hasClaim := and (eq $component "server") $values.server.persistence.enabled }}
  volumes:
    - { name: tmp, emptyDir: {} }
    {{- if not $hasClaim }}
    - { name: data, emptyDir: {} }
    {{- end }}
    {{- if $values.secretKeys }}
    - name: secrets
      secret:
        secretName: {{ $values.existingSecret }}
        defaultMode: 0440
        items:
          {{- range $values.secretKeys }}
          - { key: {{ . }}, path: {{ . }} }
          {{- end }}
    {{- end }}
{{- end }}
