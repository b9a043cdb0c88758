{{- define "lendstream.labels" -}}
app.kubernetes.io/name: lendstream
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .service }}
{{- end }}

{{- define "lendstream.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What every pod is: nobody in particular, with no right to anything. */}}
{{- define "lendstream.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "lendstream.container" -}}
image: {{ include "lendstream.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* Where the settings lie: all services', this one's, and what is secret. What is said last counts. */}}
{{- define "lendstream.volumes" -}}
- name: tmp
  emptyDir: {medium: Memory, sizeLimit: 128Mi}
- name: settings
  projected:
    sources:
      - configMap:
          name: {{ .root.Release.Name }}-settings
          items: [{key: {{ .service }}.properties, path: lendstream.properties}]
{{- end }}

{{- define "lendstream.environment" -}}
- name: LENDSTREAM_HEALTH_PORT
  value: "9404"
{{- with .secret }}
- name: LENDSTREAM_KAFKA_SASL_JAAS_CONFIG
  valueFrom: {secretKeyRef: {name: {{ . }}, key: sasl.jaas.config}}
{{- end }}
{{- end }}

{{- define "lendstream.probes" -}}
ports: [{name: http, containerPort: 9404}]
# It may take minutes to read its log again; until then it is not ready, and not restarted either.
startupProbe: {httpGet: {path: /health/live, port: http}, periodSeconds: 5, failureThreshold: 60}
livenessProbe: {httpGet: {path: /health/live, port: http}, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6}
readinessProbe: {httpGet: {path: /health/ready, port: http}, periodSeconds: 5, timeoutSeconds: 5}
{{- end }}
