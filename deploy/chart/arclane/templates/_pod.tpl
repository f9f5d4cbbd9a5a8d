{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* The pod of both shapes. */}}
{{- define "arclane.env" -}}
- name: ARCLANE_LISTEN
  value: "0.0.0.0:{{ .Values.service.port }}"
{{- if .Values.tls.enabled }}
{{- /* The kubelet's probes speak no TLS: health, and nothing else, is answered here in clear text. */}}
- name: ARCLANE_HEALTH_LISTEN
  value: "0.0.0.0:{{ .Values.service.healthPort }}"
{{- end }}
- name: ARCLANE_METRICS_LISTEN
  value: "0.0.0.0:{{ .Values.service.metricsPort }}"
- name: ARCLANE_DRAIN_DELAY_S
  value: {{ .Values.drain.delaySeconds | quote }}
- name: ARCLANE_DRAIN_TIMEOUT_S
  value: {{ .Values.drain.timeoutSeconds | quote }}
{{- if eq .Values.mode "single" }}
- name: ARCLANE_DATA_DIR
  value: /var/lib/arclane
{{- else }}
- name: ARCLANE_READ_ONLY
  value: "true"
{{- if include "arclane.hasNavmeshes" . }}
- name: ARCLANE_NAVMESH_DIR
  value: /navmeshes
{{- end }}
{{- end }}
{{- if .Values.tls.enabled }}
- name: ARCLANE_TLS_CERTIFICATE
  value: /etc/arclane/tls/tls.crt
- name: ARCLANE_TLS_KEY
  value: /etc/arclane/tls/tls.key
{{- if .Values.tls.clientCertificates }}
- name: ARCLANE_TLS_CLIENT_CA
  value: /etc/arclane/tls/ca.crt
{{- end }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: ARCLANE_{{ upper $name }}
  {{- /* Numbers come as floats: 1000000 must not become 1e+06. */}}
  {{- if and (kindIs "float64" $value) (eq (floor $value) $value) }}
  value: {{ printf "%.0f" $value | quote }}
  {{- else }}
  value: {{ toString $value | quote }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* The check of a probe; `service` is the health service's name of what is asked. */}}
{{- define "arclane.check" -}}
grpc:
  port: {{ ternary .root.Values.service.healthPort .root.Values.service.port .root.Values.tls.enabled }}
  service: {{ .service | quote }}
{{- end -}}

{{- define "arclane.podTemplate" -}}
metadata:
  labels:
    {{- include "arclane.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "arclane.serviceAccountName" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- /* The server waits and drains by itself; there is no preStop hook. */}}
  terminationGracePeriodSeconds: {{ add .Values.drain.delaySeconds .Values.drain.timeoutSeconds 5 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- if and (eq .Values.mode "replicas") .Values.replicas.navmeshes.image.repository }}
  initContainers:
    - name: navmeshes
      image: "{{ .Values.replicas.navmeshes.image.repository }}:{{ .Values.replicas.navmeshes.image.tag }}"
      command: ["cp", "-R", "{{ .Values.replicas.navmeshes.image.path }}/.", "/copy/"]
      securityContext:
        {{- include "arclane.containerSecurity" . | nindent 8 }}
      resources:
        requests: {cpu: 50m, memory: 32Mi}
        limits: {memory: 64Mi}
      volumeMounts:
        - name: navmeshes
          mountPath: /copy
  {{- end }}
  containers:
    - name: arclane
      image: {{ include "arclane.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      env:
        {{- include "arclane.env" . | nindent 8 }}
      ports:
        - name: grpc
          containerPort: {{ .Values.service.port }}
        - name: metrics
          containerPort: {{ .Values.service.metricsPort }}
      {{- /* Navmeshes are loaded before it is ready: for as long as that takes only the start is looked at. */}}
      startupProbe:
        {{- include "arclane.check" (dict "root" . "service" "") | nindent 8 }}
        periodSeconds: 1
        timeoutSeconds: 3
        failureThreshold: 300
      {{- /* Alive is the process, not its readiness: a server that drains or is overloaded is not killed. */}}
      livenessProbe:
        {{- include "arclane.check" (dict "root" . "service" "liveness") | nindent 8 }}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        {{- include "arclane.check" (dict "root" . "service" "") | nindent 8 }}
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: 2
      securityContext:
        {{- include "arclane.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        {{- if eq .Values.mode "single" }}
        - name: data
          mountPath: /var/lib/arclane
        {{- end }}
        {{- if include "arclane.hasNavmeshes" . }}
        - name: navmeshes
          mountPath: /navmeshes
          readOnly: true
          {{- with .Values.replicas.navmeshes.subPath }}
          subPath: {{ . }}
          {{- end }}
        {{- end }}
        {{- if .Values.tls.enabled }}
        - name: tls
          mountPath: /etc/arclane/tls
          readOnly: true
        {{- end }}
        - name: tmp
          mountPath: /tmp
  volumes:
    - name: tmp
      emptyDir:
        medium: Memory
        sizeLimit: 16Mi
    {{- if include "arclane.hasNavmeshes" . }}
    - name: navmeshes
      {{- if .Values.replicas.navmeshes.volume }}
      {{- toYaml .Values.replicas.navmeshes.volume | nindent 6 }}
      {{- else }}
      emptyDir: {}
      {{- end }}
    {{- end }}
    {{- if .Values.tls.enabled }}
    - name: tls
      secret:
        secretName: {{ .Values.tls.secretName }}
        defaultMode: 0440
    {{- end }}
  {{- if and .Values.topologySpread.enabled (eq .Values.mode "replicas") }}
  topologySpreadConstraints:
    {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ $key }}
      whenUnsatisfiable: {{ $.Values.topologySpread.whenUnsatisfiable }}
      labelSelector:
        matchLabels:
          {{- include "arclane.selectorLabels" $ | nindent 10 }}
      matchLabelKeys: [pod-template-hash]
    {{- end }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "arclane.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}
