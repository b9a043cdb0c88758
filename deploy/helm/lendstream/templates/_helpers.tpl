{{/* What a part of the release is called. A StatefulSet's name may have 52 characters. */}}
{{- define "lendstream.name" -}}
{{- if gt (len .root.Release.Name) 40 -}}
{{- fail (printf "the release's name is %s, of %d characters, but may have 40; choose a shorter one" .root.Release.Name (len .root.Release.Name)) -}}
{{- end -}}
{{ .root.Release.Name }}-{{ .service }}
{{- end }}

{{/* What a part's pods are found by; it stays for ever. */}}
{{- define "lendstream.selector" -}}
app.kubernetes.io/name: lendstream
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .service }}
{{- end }}

{{- define "lendstream.labels" -}}
{{ include "lendstream.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* The parts that have settings. */}}
{{- define "lendstream.parts" -}}
{{- if and .Values.agent.enabled .Values.agent.simulated.enabled -}}
{{- fail "agent.enabled and agent.simulated.enabled are both true, and simulated nodes would be lent like real ones; choose one" -}}
{{- end -}}
scheduler actuator
{{- if .Values.prepare.enabled }} prepare{{ end }}
{{- if .Values.forecaster.enabled }} forecaster{{ end }}
{{- if .Values.agent.enabled }} agent{{ end }}
{{- if .Values.agent.simulated.enabled }} simulated-agent{{ end }}
{{- end }}

{{/* The settings of a part, one on each line: its own override the common ones, which override those of the chart. */}}
{{- define "lendstream.settings" -}}
{{- $values := .root.Values -}}
{{- $said := dict "health.address" "0.0.0.0" "topic-prefix" $values.topicPrefix -}}
{{- $_ := set $said "kafka.bootstrap.servers" (required "kafka.bootstrapServers is empty; give the brokers' addresses, such as kafka:9092" $values.kafka.bootstrapServers) -}}
{{- $_ := set $said "schema.registry.url" (required "registry.url is empty; give the schema registry's address, such as http://registry:8081" $values.registry.url) -}}
{{- if $values.trustedCertificates -}}
{{- range $client := list "kafka" "schema.registry" -}}
{{- $_ := set $said (print $client ".ssl.truststore.type") "PEM" -}}
{{- $_ := set $said (print $client ".ssl.truststore.location") "/etc/lendstream/trusted.pem" -}}
{{- end -}}
{{- end -}}
{{- if ne .service "prepare" -}}
{{- include "lendstream.health" . -}}
{{- with $values.health.username -}}
{{- $_ := set $said "health.username" . -}}
{{- $_ := set $said "health.password-file" "/etc/lendstream/metrics-password" -}}
{{- end -}}
{{- if $values.health.tlsSecret -}}
{{- $_ := set $said "health.ssl.keystore.type" "PEM" -}}
{{- $_ := set $said "health.ssl.keystore.location" "/etc/lendstream/health.pem" -}}
{{- end -}}
{{- end -}}
{{- range $settings := list $values.settings .own.settings -}}
{{- range $name, $value := $settings -}}
{{- $_ := set $said $name $value -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := $said }}
{{ $name }}={{ include "lendstream.value" $value }}
{{- end }}
{{- end }}

{{/* Refuses a login that is not whole, and a keystore that probes know nothing of. */}}
{{- define "lendstream.health" -}}
{{- $health := .root.Values.health -}}
{{- if and $health.username (not $health.passwordSecret) -}}
{{- fail (printf "health.username is %s, but health.passwordSecret is empty; name a Secret with the key password" $health.username) -}}
{{- end -}}
{{- if and $health.passwordSecret (not $health.username) -}}
{{- fail (printf "health.passwordSecret is %s, but health.username is empty; give the login's name too" $health.passwordSecret) -}}
{{- end -}}
{{- $own := merge (dict) (.own.settings | default dict) (.root.Values.settings | default dict) -}}
{{- if and (not $health.tlsSecret) (hasKey $own "health.ssl.keystore.location") -}}
{{- fail "the settings have health.ssl.keystore.location, but probes would use HTTP; set health.tlsSecret instead" -}}
{{- end -}}
{{- end }}

{{/* As a properties file has it. Whole numbers come from YAML as 1e+06. */}}
{{- define "lendstream.value" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}
{{ int64 . }}
{{- else -}}
{{ toString . | replace "\\" "\\\\" }}
{{- end -}}
{{- end }}

{{/* The security context of every pod: an unprivileged user without rights; pods with an account name it. */}}
{{- define "lendstream.pod" -}}
serviceAccountName: {{ .account | default .Release.Name }}
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
{{- end }}

{{/* Where pods go that go anywhere: all but the agents of real nodes. */}}
{{- define "lendstream.placement" -}}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* One list of endpoints is every agent's: what each of them reads is counted once for each node. */}}
{{- define "lendstream.agent.endpoints" -}}
{{- $merged := merge (dict) (.Values.agent.settings | default dict) (.Values.settings | default dict) -}}
{{- range $endpoint := splitList "," (get $merged "agent.rate-endpoints" | default "" | toString) -}}
{{- $endpoint = trim $endpoint -}}
{{- if and $endpoint (not (contains ";node=" $endpoint)) (not (contains "{node}" $endpoint)) -}}
{{- fail (printf "agent.rate-endpoints has %s, which the agent of every node would read, so that its requests counted once for each; set agent.kubernetes and annotate its pods (docs/agent-rates.md), or put ;node=NAME after it, or {node} into its address" $endpoint) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "lendstream.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: {{ .migMonitor | default false }}
  privileged: false
  readOnlyRootFilesystem: true
  {{- if .migMonitor }}
  capabilities: {drop: [ALL], add: [SYS_ADMIN]}
  {{- else }}
  capabilities: {drop: [ALL]}
  {{- end }}
{{- end }}

{{/* Native libraries are unpacked to tmp, and run. Settings, certificates, a token and what health needs lie in one directory. */}}
{{- define "lendstream.volumes" -}}
- name: tmp
  emptyDir: {sizeLimit: 256Mi}
- name: settings
  projected:
    sources:
      - configMap:
          name: {{ include "lendstream.name" (dict "root" .root "service" "settings") }}
          items: [{key: {{ .service }}.properties, path: lendstream.properties}]
      {{- with .root.Values.trustedCertificates }}
      - secret:
          name: {{ . | quote }}
          items: [{key: trusted.pem, path: trusted.pem}]
      {{- end }}
      {{- with .secret }}
      - secret:
          name: {{ . | quote }}
          optional: true
          items: [{key: token, path: token}]
      {{- end }}
      {{- if ne .service "prepare" }}
      {{- with .root.Values.health.passwordSecret }}
      - secret:
          name: {{ . | quote }}
          items: [{key: password, path: metrics-password}]
      {{- end }}
      {{- with .root.Values.health.tlsSecret }}
      - secret:
          name: {{ . | quote }}
          items: [{key: tls-combined.pem, path: health.pem}]
      {{- end }}
      {{- end }}
{{- end }}

{{- define "lendstream.mounts" -}}
- {name: settings, mountPath: /etc/lendstream, readOnly: true}
- {name: tmp, mountPath: /tmp}
{{- end }}

{{/* Who a part is, to the brokers and to the registry. */}}
{{- define "lendstream.login" -}}
- name: LENDSTREAM_KAFKA_SASL_JAAS_CONFIG
  valueFrom: {secretKeyRef: {name: {{ . | quote }}, key: sasl.jaas.config}}
- name: LENDSTREAM_SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO
  valueFrom: {secretKeyRef: {name: {{ . | quote }}, key: basic.auth.user.info, optional: true}}
{{- end }}

{{- define "lendstream.probes" -}}
{{- $scheme := .Values.health.tlsSecret | empty | ternary "" ", scheme: HTTPS" -}}
ports: [{name: http, containerPort: 9404}]
# It may take minutes to read its log again; until then it is not ready, and not restarted either.
startupProbe: {httpGet: {path: /health/live, port: http{{ $scheme }}}, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 60}
livenessProbe: {httpGet: {path: /health/live, port: http{{ $scheme }}}, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6}
readinessProbe: {httpGet: {path: /health/ready, port: http{{ $scheme }}}, periodSeconds: 5, timeoutSeconds: 5}
{{- end }}

{{/* A changed setting restarts the pod. */}}
{{- define "lendstream.annotations" -}}
lendstream/settings: {{ include "lendstream.settings" . | sha256sum }}
prometheus.io/scrape: "true"
prometheus.io/port: "9404"
{{- if .root.Values.health.tlsSecret }}
prometheus.io/scheme: https
{{- end }}
{{- with .root.Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* A rule of a network policy: to these peers, or to any, at these TCP ports. */}}
{{- define "lendstream.egress" -}}
- ports:
    {{- range .ports }}
    - {protocol: TCP, port: {{ int . }}}
    {{- end }}
  {{- with .to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* The ports of addresses, as a YAML list. */}}
{{- define "lendstream.ports" -}}
{{- $otherwise := .otherwise -}}
{{- $ports := list -}}
{{- range $address := splitList "," .addresses -}}
{{- $port := regexFind ":[0-9]+(/.*)?$" (trim $address) | trimPrefix ":" | regexFind "^[0-9]+" -}}
{{- $ports = append $ports (int ($port | default $otherwise)) -}}
{{- end -}}
{{ $ports | uniq | toYaml }}
{{- end }}

{{/* Whether a service talks to more than brokers and registry: an actuator's driver to its system, an agent to the endpoints it reads. */}}
{{- define "lendstream.reaches" -}}
{{- $values := .root.Values -}}
{{- if eq .service "actuator" -}}
{{- $own := merge (dict) $values.actuator.settings $values.settings -}}
{{- if ne (get $own "actuator.driver" | default "simulated") "simulated" }}true{{ end -}}
{{- else if eq .service "agent" -}}
{{- $own := merge (dict) $values.agent.settings $values.settings -}}
{{- if or $values.agent.kubernetes (hasKey $own "agent.rate-endpoints") (hasKey $own "agent.dcgm-url") }}true{{ end -}}
{{- end -}}
{{- end }}
