package io.lendstream.launcher.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import com.marcnuri.helm.TemplateCommand;
import io.lendstream.launcher.cluster.SchemasCommand;
import io.lendstream.launcher.cluster.TopicsCommand;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsFile;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The chart, as Helm itself reads it. */
final class HelmChartTest {
    private static final Path CHART = Path.of("../deploy/helm/lendstream");
    private static final String ADDRESSES =
            "{kafka: {bootstrapServers: 'kafka:9092'}, registry: {url: 'http://registry:8081'}}";
    private static final String DEFAULTS = "{}";
    private static final String GUARDED =
            "health: {username: prometheus, passwordSecret: scraper, tlsSecret: certificate}";
    private static final String AGENTS = "{agent: {enabled: true}}";
    private static final String SIMULATED = "{agent: {simulated: {enabled: true}}}";

    @TempDir
    private Path directory;

    @BeforeAll
    static void theLibraryIsForThisPlatform() {
        String platform = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        assumeTrue(
                Set.of("Linux amd64", "Linux x86_64").contains(platform),
                "Helm's library is here for Linux on x86-64 only, and this is " + platform);
    }

    @Test
    void helmFindsNothingToWarnOf() {
        LintResult lint = new Helm(CHART).lint().strict().call();

        assertThat(lint.isFailed()).as(lint.getMessages().toString()).isFalse();
        assertThat(lint.getMessages()).allMatch(message -> message.startsWith("[INFO]"));
    }

    @Test
    void thereAreASchedulerAForecasterAndAnActuatorThatIsNotStarted() throws IOException {
        List<Manifest> chart = rendered(DEFAULTS);

        assertThat(chart.stream().filter(Manifest::hasPods))
                .extracting(Manifest::kind, Manifest::name)
                .containsExactlyInAnyOrder(
                        tuple("StatefulSet", "gpus-scheduler"),
                        tuple("StatefulSet", "gpus-forecaster"),
                        tuple("StatefulSet", "gpus-actuator"),
                        tuple("Job", "gpus-prepare-1"));
        assertThat(replicas(chart, "scheduler")).isEqualTo(2);
        assertThat(replicas(chart, "forecaster")).isEqualTo(1);
        assertThat(replicas(chart, "actuator")).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {DEFAULTS, AGENTS, SIMULATED})
    void podsRunWithoutPrivileges(String values) throws IOException {
        for (Manifest manifest : pods(values)) {
            JsonNode pod = manifest.pod();
            assertThat(pod.at("/automountServiceAccountToken").asBoolean(true))
                    .as(manifest.name())
                    .isFalse();
            assertThat(pod.at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
            assertThat(pod.at("/securityContext/runAsUser").asInt()).isPositive();
            assertThat(pod.at("/securityContext/seccompProfile/type").asText()).isEqualTo("RuntimeDefault");
            for (String ofTheNode : List.of("hostNetwork", "hostPID", "hostIPC")) {
                assertThat(pod.path(ofTheNode).asBoolean()).as(ofTheNode).isFalse();
            }
            for (JsonNode container : manifest.containers()) {
                JsonNode security = container.at("/securityContext");
                assertThat(security.at("/readOnlyRootFilesystem").asBoolean()).isTrue();
                assertThat(security.at("/allowPrivilegeEscalation").asBoolean(true))
                        .isFalse();
                assertThat(security.at("/privileged").asBoolean(true)).isFalse();
                assertThat(security.at("/capabilities")).hasToString("{\"drop\":[\"ALL\"]}");
            }
        }
    }

    @Test
    void theAccountOfPodsHasNoRoleAndNoToken() throws IOException {
        List<Manifest> chart = rendered(AGENTS);

        Manifest account = only(chart, "ServiceAccount", "gpus");
        assertThat(account.root().at("/automountServiceAccountToken").asBoolean(true))
                .isFalse();
        assertThat(chart).extracting(Manifest::kind).noneMatch(kind -> kind.contains("Role"));
        assertThat(pods(AGENTS))
                .allMatch(manifest ->
                        manifest.pod().at("/serviceAccountName").asText().equals("gpus"));
    }

    @ParameterizedTest
    @ValueSource(strings = {DEFAULTS, AGENTS, SIMULATED})
    void containersSayWhatTheyNeedAndWhetherTheyAreWell(String values) throws IOException {
        for (Manifest manifest : pods(values)) {
            for (JsonNode container : manifest.containers()) {
                assertThat(container.at("/resources/requests/cpu").asText())
                        .as(manifest.name())
                        .isNotEmpty();
                assertThat(container.at("/resources/requests/memory").asText()).isNotEmpty();
                assertThat(container.at("/resources/limits/memory").asText()).isNotEmpty();
                assertThat(container.at("/resources/limits").has("nvidia.com/gpu"))
                        .as("takes no GPU")
                        .isFalse();
                if (!manifest.kind().equals("Job")) {
                    String port = container.at("/ports/0/name").asText();
                    for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
                        assertThat(container.path(probe).at("/httpGet/port").asText())
                                .as(probe)
                                .isEqualTo(port);
                    }
                    assertThat(container.at("/readinessProbe/httpGet/path").asText())
                            .isEqualTo("/health/ready");
                }
            }
        }
    }

    @Test
    void drainsTakeOnePodOfAServiceAtATime() throws IOException {
        List<Manifest> chart = rendered(DEFAULTS);

        for (String service : List.of("scheduler", "forecaster", "actuator")) {
            Manifest budget = only(chart, "PodDisruptionBudget", "gpus-" + service);
            assertThat(budget.root().at("/spec/maxUnavailable").asInt()).isEqualTo(1);
            assertThat(budget.root().at("/spec/selector"))
                    .isEqualTo(
                            only(chart, "StatefulSet", "gpus-" + service).root().at("/spec/selector"));
        }
    }

    @Test
    void aBudgetKeepsOneSchedulerWhileADrainTakesTheOther() throws IOException {
        List<Manifest> chart = rendered("{scheduler: {replicas: 3}}");

        int allowedToGo = only(chart, "PodDisruptionBudget", "gpus-scheduler")
                .root()
                .at("/spec/maxUnavailable")
                .asInt();

        assertThat(replicas(chart, "scheduler") - allowedToGo).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {DEFAULTS, AGENTS, SIMULATED})
    void whatManifestsNameIsThere(String values) throws IOException {
        List<Manifest> chart = rendered(values);
        var names = new HashSet<String>();
        Manifest settings = only(chart, "ConfigMap", "gpus-settings");

        for (Manifest manifest : chart) {
            assertThat(manifest.name()).matches("[a-z0-9]([-a-z0-9]*[a-z0-9])?").hasSizeLessThan(53);
            assertThat(names.add(manifest.kind() + " " + manifest.name()))
                    .as("%s %s is there once", manifest.kind(), manifest.name())
                    .isTrue();
        }
        for (Manifest manifest : chart.stream().filter(Manifest::hasPods).toList()) {
            if (!manifest.kind().equals("Job")) {
                assertThat(manifest.template().at("/metadata/labels"))
                        .containsAll(manifest.root().at("/spec/selector/matchLabels"));
            }
            if (manifest.kind().equals("StatefulSet")) {
                Manifest service = only(
                        chart,
                        "Service",
                        manifest.root().at("/spec/serviceName").asText());
                assertThat(service.root().at("/spec/selector"))
                        .isEqualTo(manifest.root().at("/spec/selector/matchLabels"));
            }
            assertThat(settings.root().at("/data").has(manifest.settingsKey())).isTrue();
            Map<String, JsonNode> unmounted = manifest.volumes();
            for (JsonNode container : manifest.containers()) {
                for (JsonNode mount : container.path("volumeMounts")) {
                    String name = mount.get("name").asText();
                    assertThat(manifest.volumes()).containsKey(name);
                    assertThat(!manifest.volumes().get(name).has("hostPath")
                                    || mount.path("readOnly").asBoolean())
                            .as("what is of the node is read-only")
                            .isTrue();
                    unmounted.remove(name);
                }
            }
            assertThat(unmounted).as("volumes that no container mounts").isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                DEFAULTS,
                AGENTS,
                SIMULATED,
                "{prepare: {secret: a}, scheduler: {secret: b, staticMembership: true}, forecaster: {secret: c}, actuator: {secret: d},"
                        + " agent: {enabled: true, secret: e}, trustedCertificates: f, " + GUARDED + "}"
            })
    void commandsAndSettingsAreThoseThatThereAre(String values) throws IOException {
        for (Manifest manifest : pods(values)) {
            SettingsFile file = settings(values, manifest.settingsKey());
            for (JsonNode container : manifest.containers()) {
                List<String> arguments = Manifest.arguments(container);
                String command = arguments.get(0);
                Map<String, String> environment = Manifest.environment(container, "from-elsewhere");
                switch (command) {
                    case "topics" -> parse(new TopicsCommand(), arguments);
                    case "schemas" -> parse(new SchemasCommand(), arguments);
                    default ->
                        assertThat(ServiceKind.named(command)).as(command).isPresent();
                }
                assertThat(arguments).endsWith("--config", "/etc/lendstream/lendstream.properties");

                Settings settings = Settings.of(
                        ServiceKind.named(command).isPresent() ? KnownSettings.of(command) : CommonKeys.ALL,
                        file,
                        environment,
                        List.of());

                assertThat(settings.under("kafka.")).containsEntry("bootstrap.servers", "kafka:9092");
                assertThat(settings.under("schema.registry.")).containsEntry("url", "http://registry:8081");
                assertThat(settings.get(CommonKeys.TOPIC_PREFIX)).isEqualTo("lendstream.");
                if (ServiceKind.named(command).isPresent()) {
                    assertThat(settings.get(CommonKeys.HEALTH_PORT))
                            .hasValue(container.at("/ports/0/containerPort").asInt());
                    assertThat(settings.get(CommonKeys.HEALTH_ADDRESS)).isEqualTo("0.0.0.0");
                }
            }
        }
    }

    @Test
    void theOwnSettingsOfAPartOverrideTheCommonOnes() throws IOException {
        String values = """
                settings: {scheduler.lending: true, scheduler.max-transfers: 3000000, scheduler.max-share-lent: 0.25,
                  scheduler.quiet-windows: 'mon-fri 08:00-10:00', kafka.ssl.truststore.location: 'C:\\trusted.pem'}
                scheduler: {settings: {scheduler.lending: false, health.address: 127.0.0.1}}
                """;

        Map<String, String> scheduler = settings(values, "scheduler.properties").values();

        assertThat(scheduler)
                .containsEntry("scheduler.lending", "false")
                .containsEntry("scheduler.max-transfers", "3000000")
                .containsEntry("scheduler.max-share-lent", "0.25")
                .containsEntry("scheduler.quiet-windows", "mon-fri 08:00-10:00")
                .containsEntry("kafka.ssl.truststore.location", "C:\\trusted.pem")
                .containsEntry("health.address", "127.0.0.1");
        assertThat(settings(values, "actuator.properties").values()).containsEntry("scheduler.lending", "true");
    }

    @Test
    void onlyPodsWithChangedSettingsAreRestarted() throws IOException {
        List<Manifest> before = rendered(DEFAULTS);
        List<Manifest> after = rendered("{scheduler: {settings: {scheduler.notice: 60s}}}");

        assertThat(only(after, "StatefulSet", "gpus-scheduler").template())
                .isNotEqualTo(only(before, "StatefulSet", "gpus-scheduler").template());
        assertThat(only(after, "StatefulSet", "gpus-actuator")).isEqualTo(only(before, "StatefulSet", "gpus-actuator"));
    }

    @Test
    void eachSchedulerHasStateOfItsOwnAndNoIdentityInTheGroupUnlessItIsWanted() throws IOException {
        Manifest scheduler = only(rendered(DEFAULTS), "StatefulSet", "gpus-scheduler");
        Manifest withIdentity =
                only(rendered("{scheduler: {staticMembership: true}}"), "StatefulSet", "gpus-scheduler");

        Map<String, String> environment = Manifest.environment(scheduler.container(), "");
        assertThat(environment).containsEntry("LENDSTREAM_KAFKA_STATE_DIR", "/var/lib/lendstream/scheduler");
        assertThat(scheduler
                        .root()
                        .at("/spec/volumeClaimTemplates/0/metadata/name")
                        .asText())
                .isEqualTo("state");
        assertThat(scheduler.container().at("/volumeMounts"))
                .anyMatch(mount -> mount.get("name").asText().equals("state")
                        && mount.get("mountPath").asText().equals("/var/lib/lendstream"));
        assertThat(environment).doesNotContainKey("LENDSTREAM_KAFKA_CONSUMER_GROUP_INSTANCE_ID");
        assertThat(variable(withIdentity, "LENDSTREAM_KAFKA_CONSUMER_GROUP_INSTANCE_ID"))
                .as("the pod's name, which is another for each and stays")
                .hasToString("{\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}");
    }

    @Test
    void passwordsComeFromSecretsAndStandNowhereElse() throws IOException {
        String values =
                "{scheduler: {secret: kafka-scheduler}, actuator: {secret: kafka-actuator}, prepare: {secret: kafka-installer}}";

        for (Manifest manifest : pods(values)) {
            String service = manifest.settingsKey().replace(".properties", "");
            String secret = service.equals("prepare") ? "kafka-installer" : "kafka-" + service;
            for (JsonNode container : manifest.containers()) {
                if (service.equals("forecaster")) {
                    assertThat(container.toString()).doesNotContain("JAAS", "secretKeyRef");
                } else {
                    JsonNode login = variable(container, "LENDSTREAM_KAFKA_SASL_JAAS_CONFIG");
                    assertThat(login.at("/secretKeyRef/name").asText()).isEqualTo(secret);
                    assertThat(login.at("/secretKeyRef/key").asText()).isEqualTo("sasl.jaas.config");
                }
            }
        }
    }

    /** For every kind of pod that serves health: those of real nodes and of simulated ones exclude each other. */
    @ParameterizedTest
    @ValueSource(strings = {"agent: {enabled: true}", "agent: {simulated: {enabled: true}}"})
    void theLoginAndTheKeyOfHealthAreFilesWhereTheSettingsSay(String agents) throws IOException {
        String values = "{%s, %s}".formatted(GUARDED, agents);

        for (Manifest manifest : pods(values)) {
            Settings settings =
                    Settings.of(CommonKeys.ALL, settings(values, manifest.settingsKey()), Map.of(), List.of());
            if (manifest.kind().equals("Job")) {
                assertThat(settings.get(CommonKeys.HEALTH_USERNAME)).isEmpty();
                assertThat(settings.get(CommonKeys.HEALTH_KEYSTORE)).isEmpty();
                assertThat(manifest.root().toString())
                        .as("it serves no health")
                        .doesNotContain("scraper", "certificate");
                continue;
            }
            Map<String, JsonNode> files = filesFromSecrets(manifest);
            assertThat(settings.get(CommonKeys.HEALTH_USERNAME)).isEqualTo("prometheus");
            assertThat(files.get(settings.get(CommonKeys.HEALTH_PASSWORD_FILE)
                            .orElseThrow()
                            .toString()))
                    .as(manifest.name())
                    .hasToString("{\"secret\":\"scraper\",\"key\":\"password\"}");
            assertThat(files.get(settings.get(CommonKeys.HEALTH_KEYSTORE)
                            .orElseThrow()
                            .toString()))
                    .hasToString("{\"secret\":\"certificate\",\"key\":\"tls-combined.pem\"}");
            assertThat(settings.get(CommonKeys.HEALTH_KEYSTORE_TYPE)).isEqualTo("PEM");
            assertThat(manifest.container().path("env").toString())
                    .as("never in the environment")
                    .doesNotContain("scraper", "certificate", "HEALTH_PASSWORD", "HEALTH_SSL");
        }
    }

    @Test
    void probesUseHttpsWhereHealthDoesAndNeedNoLogin() throws IOException {
        for (Manifest manifest : pods("{%s, agent: {enabled: true}}".formatted(GUARDED))) {
            if (manifest.kind().equals("Job")) {
                continue;
            }
            assertThat(manifest.template()
                            .at("/metadata/annotations")
                            .path("prometheus.io/scheme")
                            .asText())
                    .isEqualTo("https");
            for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
                JsonNode get = manifest.container().path(probe).path("httpGet");
                assertThat(get.path("scheme").asText())
                        .as("%s %s", manifest.name(), probe)
                        .isEqualTo("HTTPS");
                assertThat(get.path("path").asText()).as("open without a login").isIn("/health/live", "/health/ready");
            }
        }
    }

    @Test
    void aLoginAloneLeavesProbesOnHttp() throws IOException {
        Manifest scheduler = only(
                rendered("health: {username: prometheus, passwordSecret: scraper}"), "StatefulSet", "gpus-scheduler");

        assertThat(scheduler.container().at("/livenessProbe/httpGet"))
                .hasToString("{\"path\":\"/health/live\",\"port\":\"http\"}");
        assertThat(scheduler.template().at("/metadata/annotations").has("prometheus.io/scheme"))
                .isFalse();
    }

    @Test
    void trustedCertificatesAreWhereTheSettingsSay() throws IOException {
        String values = "{trustedCertificates: brokers}";

        Map<String, String> settings = settings(values, "scheduler.properties").values();
        Manifest scheduler = only(rendered(values), "StatefulSet", "gpus-scheduler");

        assertThat(settings)
                .containsEntry("kafka.ssl.truststore.location", "/etc/lendstream/trusted.pem")
                .containsEntry("schema.registry.ssl.truststore.type", "PEM");
        assertThat(scheduler.pod().findPath("projected").findPath("secret"))
                .hasToString("{\"name\":\"brokers\",\"items\":[{\"key\":\"trusted.pem\",\"path\":\"trusted.pem\"}]}");
    }

    @Test
    void theForecasterMayRunElsewhere() throws IOException {
        List<Manifest> chart = rendered("{forecaster: {enabled: false}}");

        assertThat(chart).extracting(Manifest::name).noneMatch(name -> name.contains("forecaster"));
        assertThat(only(chart, "ConfigMap", "gpus-settings").root().at("/data").has("forecaster.properties"))
                .isFalse();
    }

    @Test
    void simulatedNodesHaveASinglePodThatIsRecreated() throws IOException {
        Manifest agent = only(rendered(SIMULATED), "Deployment", "gpus-simulated-agent");

        assertThat(agent.root().at("/spec/replicas").asInt()).isEqualTo(1);
        assertThat(agent.root().at("/spec/strategy/type").asText()).isEqualTo("Recreate");
        assertThat(Manifest.environment(agent.container(), "")).containsEntry("LENDSTREAM_AGENT_BACKEND", "simulated");
        assertThat(rendered(SIMULATED)).extracting(Manifest::kind).doesNotContain("DaemonSet");
    }

    @Test
    void agentsAskWhatTheDaemonSetWithoutHelmAsks() throws IOException {
        Manifest chart = only(rendered(AGENTS), "DaemonSet", "gpus-agent");
        Manifest plain = only(
                Manifest.readAll(Files.readString(Path.of("../deploy/agent/daemonset.yaml"))),
                "DaemonSet",
                "lendstream-agent");

        for (String same : List.of(
                "securityContext",
                "automountServiceAccountToken",
                "runtimeClassName",
                "priorityClassName",
                "nodeSelector",
                "tolerations",
                "terminationGracePeriodSeconds",
                "hostNetwork",
                "hostPID")) {
            assertThat(chart.pod().path(same)).as(same).isEqualTo(plain.pod().path(same));
        }
        assertThat(chart.container().at("/securityContext"))
                .isEqualTo(plain.container().at("/securityContext"));
        assertThat(chart.container().at("/resources"))
                .isEqualTo(plain.container().at("/resources"));
        assertThat(chart.root().at("/spec/updateStrategy"))
                .isEqualTo(plain.root().at("/spec/updateStrategy"));
        assertThat(chart.volumes().get("maintenance")).isEqualTo(plain.volumes().get("maintenance"));
        Map<String, String> environment = Manifest.environment(plain.container(), "node");
        environment.remove("LENDSTREAM_HEALTH_ADDRESS"); // which the chart has in the settings
        assertThat(Manifest.environment(chart.container(), "node")).isEqualTo(environment);
        assertThat(variable(chart, "LENDSTREAM_AGENT_NODE"))
                .isEqualTo(variable(plain, "LENDSTREAM_AGENT_NODE"))
                .hasToString("{\"fieldRef\":{\"fieldPath\":\"spec.nodeName\"}}");
    }

    @Test
    void agentsAskTheKubeletOnlyIfSetAndAreThenRootWithoutOtherRights() throws IOException {
        Manifest usual = only(rendered(AGENTS), "DaemonSet", "gpus-agent");
        Manifest asking = only(rendered("{agent: {enabled: true, podResources: true}}"), "DaemonSet", "gpus-agent");
        JsonNode security = asking.container().at("/securityContext");

        assertThat(usual.volumes()).doesNotContainKey("pod-resources");
        assertThat(Manifest.environment(usual.container(), "")).doesNotContainKey("LENDSTREAM_AGENT_POD_RESOURCES");
        assertThat(usual.container().at("/securityContext").has("runAsUser")).isFalse();
        assertThat(asking.volumes().get("pod-resources").at("/hostPath/path").asText())
                .isEqualTo("/var/lib/kubelet/pod-resources");
        assertThat(asking.container().at("/volumeMounts")).anySatisfy(mount -> {
            assertThat(mount.at("/name").asText()).isEqualTo("pod-resources");
            assertThat(mount.at("/readOnly").asBoolean()).isTrue();
        });
        assertThat(Manifest.environment(asking.container(), ""))
                .containsEntry("LENDSTREAM_AGENT_POD_RESOURCES", "/var/lib/kubelet/pod-resources/kubelet.sock");
        assertThat(security.at("/runAsUser").asInt(1)).isZero();
        assertThat(security.at("/readOnlyRootFilesystem").asBoolean()).isTrue();
        assertThat(security.at("/allowPrivilegeEscalation").asBoolean(true)).isFalse();
        assertThat(security.at("/capabilities")).hasToString("{\"drop\":[\"ALL\"]}");
    }

    @Test
    void agentsThatAskTheApiServerMayListAndWatchPodsAndNodesAndNothingElse() throws IOException {
        List<Manifest> chart = rendered("{agent: {enabled: true, kubernetes: true}}");
        Manifest agent = only(chart, "DaemonSet", "gpus-agent");
        Manifest role = only(chart, "ClusterRole", "lending-gpus-agent");
        Manifest binding = only(chart, "ClusterRoleBinding", "lending-gpus-agent");

        assertThat(role.root().at("/rules"))
                .hasToString(
                        "[{\"apiGroups\":[\"\"],\"resources\":[\"pods\",\"nodes\"],\"verbs\":[\"list\",\"watch\"]}]");
        assertThat(binding.root().at("/roleRef/name").asText()).isEqualTo("lending-gpus-agent");
        assertThat(binding.root().at("/subjects"))
                .hasToString("[{\"kind\":\"ServiceAccount\",\"name\":\"gpus-agent\",\"namespace\":\"lending\"}]");
        only(chart, "ServiceAccount", "gpus-agent");
        assertThat(agent.pod().at("/serviceAccountName").asText()).isEqualTo("gpus-agent");
        assertThat(Manifest.environment(agent.container(), "")).containsEntry("LENDSTREAM_AGENT_KUBERNETES", "true");
        assertThat(agent.container().at("/volumeMounts")).anySatisfy(mount -> {
            assertThat(mount.at("/name").asText()).isEqualTo("account");
            assertThat(mount.at("/mountPath").asText()).isEqualTo("/var/run/secrets/kubernetes.io/serviceaccount");
            assertThat(mount.at("/readOnly").asBoolean()).isTrue();
        });
        assertThat(agent.volumes().get("account").findValuesAsText("path")).containsExactly("token", "ca.crt");
        assertThat(chart.stream().filter(Manifest::hasPods))
                .filteredOn(manifest -> !manifest.name().equals("gpus-agent"))
                .allMatch(manifest ->
                        manifest.pod().at("/serviceAccountName").asText().equals("gpus"));
    }

    @Test
    void agentsThatTellWhereMigInstancesLieHaveTheCapabilityThatNvidiasRuntimeWantsAndAreNotRoot() throws IOException {
        Manifest agent = only(rendered("{agent: {enabled: true, migMonitor: true}}"), "DaemonSet", "gpus-agent");
        JsonNode security = agent.container().at("/securityContext");

        assertThat(Manifest.environment(agent.container(), ""))
                .containsEntry("NVIDIA_MIG_MONITOR_DEVICES", "all")
                .containsEntry("NVIDIA_VISIBLE_DEVICES", "all")
                .containsEntry("NVIDIA_DRIVER_CAPABILITIES", "utility");
        assertThat(security.at("/capabilities")).hasToString("{\"drop\":[\"ALL\"],\"add\":[\"SYS_ADMIN\"]}");
        assertThat(security.at("/allowPrivilegeEscalation").asBoolean())
                .as("Kubernetes refuses the capability without it")
                .isTrue();
        assertThat(security.at("/privileged").asBoolean(true)).isFalse();
        assertThat(security.at("/readOnlyRootFilesystem").asBoolean()).isTrue();
        assertThat(agent.pod().at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
    }

    @Test
    void whatTheDaemonSetMayHaveBesidesIsWhatTheChartMayHave() throws IOException {
        Path plain = Path.of("../deploy/agent");
        JsonNode set = only(
                        Manifest.readAll(Files.readString(plain.resolve("daemonset.yaml"))),
                        "DaemonSet",
                        "lendstream-agent")
                .root();
        JsonNode kustomization = Manifest.readAll(Files.readString(plain.resolve("kustomization.yaml")))
                .get(0)
                .root();
        for (JsonNode patch : kustomization.at("/patches")) {
            set = StrategicMerge.of(
                    set,
                    Manifest.readAll(Files.readString(
                                    plain.resolve(patch.at("/path").asText())))
                            .get(0)
                            .root());
        }
        Manifest patched = new Manifest(set);
        Manifest chart = only(
                rendered("{agent: {enabled: true, kubernetes: true, podResources: true, migMonitor: true}}"),
                "DaemonSet",
                "gpus-agent");

        assertThat(kustomization.at("/patches")).hasSize(3);
        Map<String, String> environment = Manifest.environment(patched.container(), "node");
        environment.remove("LENDSTREAM_HEALTH_ADDRESS"); // which the chart has in the settings
        assertThat(Manifest.environment(chart.container(), "node")).isEqualTo(environment);
        assertThat(chart.container().at("/securityContext"))
                .isEqualTo(patched.container().at("/securityContext"));
        for (String volume : List.of("account", "pod-resources")) {
            assertThat(chart.volumes().get(volume)).isEqualTo(patched.volumes().get(volume));
            assertThat(mount(chart, volume)).isEqualTo(mount(patched, volume));
        }
        List<Manifest> rights = Manifest.readAll(Files.readString(plain.resolve("rights.yaml")));
        assertThat(only(rights, "ClusterRole", "lendstream-agent").root().at("/rules"))
                .isEqualTo(only(
                                rendered("{agent: {enabled: true, kubernetes: true}}"),
                                "ClusterRole",
                                "lending-gpus-agent")
                        .root()
                        .at("/rules"));
    }

    private static JsonNode mount(Manifest manifest, String volume) {
        return StreamSupport.stream(manifest.container().at("/volumeMounts").spliterator(), false)
                .filter(mount -> mount.at("/name").asText().equals(volume))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void endpointsOfOneNodeMayStandInEveryNodesSettings() throws IOException {
        String values =
                "{agent: {enabled: true, settings: {agent.rate-endpoints: 'vllm@http://gateway/metrics;node=n1, triton@http://{node}:8002/metrics'}}}";

        assertThat(settings(values, "agent.properties").values())
                .containsEntry(
                        "agent.rate-endpoints",
                        "vllm@http://gateway/metrics;node=n1, triton@http://{node}:8002/metrics");
    }

    @Test
    void agentsHaveNoRuntimeClassAndSpoolToTheNodeIfSet() throws IOException {
        Manifest agent = only(
                rendered("{agent: {enabled: true, runtimeClassName: '', spoolDirectory: /var/spool/lendstream}}"),
                "DaemonSet",
                "gpus-agent");

        assertThat(agent.pod().has("runtimeClassName")).isFalse();
        assertThat(agent.volumes().get("spool").at("/hostPath/path").asText()).isEqualTo("/var/spool/lendstream");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{kafka: {bootstrapServers: ''}} | kafka.bootstrapServers is empty; give the brokers' addresses",
                "{registry: {url: ''}} | registry.url is empty; give the schema registry's address",
                "{registry: {url: 'registry:8081'}} | at '/registry/url': 'registry:8081' does not match pattern",
                "{scheduler: {replicas: two}} | at '/scheduler/replicas': got string, want integer",
                "{scheduler: {replica: 2}} | at '/scheduler': additional properties 'replica' not allowed",
                "{actuator: {replicas: 2}} | at '/actuator/replicas': maximum: got 2, want 1",
                "{agent: {enabled: 'yes'}} | at '/agent/enabled': got string, want boolean",
                "{agents: {enabled: true}} | additional properties 'agents' not allowed",
                "{settings: {kafka: {security.protocol: SSL}}} | at '/settings/kafka': got object",
                "{scheduler: {resources: {request: {cpu: 1}}}} | at '/scheduler/resources': additional properties 'request' not allowed",
                "{image: {pullPolicy: Sometimes}} | at '/image/pullPolicy': value must be one of",
                "{agent: {enabled: true, simulated: {enabled: true}}} | agent.enabled and agent.simulated.enabled are both true",
                "{agent: {enabled: true, settings: {agent.rate-endpoints: 'vllm@http://a/metrics;node=n1,vllm@http://gateway/metrics'}}} | agent.rate-endpoints has vllm@http://gateway/metrics, which the agent of every node would read",
                "{settings: {agent.rate-endpoints: 'vllm@http://gateway/metrics'}, agent: {enabled: true}} | set agent.kubernetes and annotate its pods",
                "{agent: {enabled: true}, actuator: {replicas: 1}} | actuator.settings has no actuator.driver",
                "{health: {username: prometheus}} | health.username is prometheus, but health.passwordSecret is empty",
                "{health: {passwordSecret: scraper}} | health.passwordSecret is scraper, but health.username is empty",
                "{health: {username: 'a:b', passwordSecret: scraper}} | at '/health/username': 'a:b' does not match pattern",
                "{health: {password: secret}} | at '/health': additional properties 'password' not allowed",
                "{settings: {health.ssl.keystore.location: /tmp/k.p12}} | health.ssl.keystore.location, but probes would use HTTP",
                "{actuator: {settings: {health.ssl.keystore.location: /tmp/k.p12}}} | health.ssl.keystore.location, but probes would use HTTP",
                "{scheduler: {settings: {kafka.consumer.group.instance.id: a}}} | scheduler.settings has kafka.consumer.group.instance.id"
            })
    void aWrongValueIsNamed(String values, String said) {
        assertThatThrownBy(() -> rendered(values))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(said);
    }

    @Test
    void addressesMustBeGiven() throws IOException {
        Path none = Files.writeString(directory.resolve("none.yaml"), "registry: {url: 'http://registry:8081'}");

        assertThatThrownBy(() -> template("gpus").withValuesFile(none).call())
                .hasMessageContaining("kafka.bootstrapServers is empty");
    }

    @Test
    void aNameThatIsTooLongForWhatComesAfterItIsRefused() {
        assertThatThrownBy(() -> template("a".repeat(41))
                        .set("kafka.bootstrapServers", "kafka")
                        .set("registry.url", "http://registry")
                        .call())
                .hasMessageContaining("of 41 characters, but may have 40");
    }

    private static void parse(Object command, List<String> arguments) {
        var parsed = new CommandLine(command)
                .parseArgs(arguments.subList(1, arguments.size()).toArray(String[]::new));
        assertThat(parsed.hasSubcommand()).isTrue();
    }

    private static int replicas(List<Manifest> chart, String service) {
        return only(chart, "StatefulSet", "gpus-" + service)
                .root()
                .at("/spec/replicas")
                .asInt(-1);
    }

    private static JsonNode variable(Manifest manifest, String name) {
        return variable(manifest.container(), name);
    }

    /** Where a variable's value comes from. */
    private static JsonNode variable(JsonNode container, String name) {
        var found = new TreeMap<String, JsonNode>();
        container.path("env").forEach(variable -> found.put(variable.get("name").asText(), variable));
        assertThat(found).containsKey(name);
        return found.get(name).path("valueFrom");
    }

    /** What of secrets a pod's containers find in files: the secret and its key, by the file's path. */
    private static Map<String, JsonNode> filesFromSecrets(Manifest manifest) {
        var files = new TreeMap<String, JsonNode>();
        for (JsonNode mount : manifest.container().path("volumeMounts")) {
            for (JsonNode source :
                    manifest.volumes().get(mount.get("name").asText()).at("/projected/sources")) {
                for (JsonNode item : source.at("/secret/items")) {
                    files.put(
                            mount.get("mountPath").asText() + "/"
                                    + item.get("path").asText(),
                            JsonNodeFactory.instance
                                    .objectNode()
                                    .put("secret", source.at("/secret/name").asText())
                                    .put("key", item.get("key").asText()));
                }
            }
        }
        return files;
    }

    private static Manifest only(List<Manifest> manifests, String kind, String name) {
        List<Manifest> found = manifests.stream()
                .filter(manifest ->
                        manifest.kind().equals(kind) && manifest.name().equals(name))
                .toList();
        assertThat(found).as("%s %s", kind, name).hasSize(1);
        return found.get(0);
    }

    private List<Manifest> pods(String values) throws IOException {
        return rendered(values).stream().filter(Manifest::hasPods).toList();
    }

    /** A part's settings, read as services read them. */
    private SettingsFile settings(String values, String key) throws IOException {
        String text = only(rendered(values), "ConfigMap", "gpus-settings")
                .root()
                .at("/data")
                .path(key)
                .asText();
        return SettingsFile.read(Files.writeString(directory.resolve(key), text));
    }

    /** For the oldest Kubernetes that the chart is for. */
    private static TemplateCommand template(String release) {
        return new Helm(CHART)
                .template()
                .withName(release)
                .withNamespace("lending")
                .withKubeVersion("1.25.0");
    }

    private List<Manifest> rendered(String values) throws IOException {
        return Manifest.readAll(template("gpus")
                .withValuesFile(Files.writeString(directory.resolve("addresses.yaml"), ADDRESSES))
                .withValuesFile(Files.writeString(directory.resolve("values.yaml"), values))
                .call());
    }
}
