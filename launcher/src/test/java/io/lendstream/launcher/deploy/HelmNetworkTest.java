package io.lendstream.launcher.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.marcnuri.helm.Helm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The chart's network policies, as Helm renders them. */
final class HelmNetworkTest {
    private static final String ADDRESSES =
            "{kafka: {bootstrapServers: 'kafka-1:9092,kafka-2:9095'}, registry: {url: 'http://registry:8081'}}";

    @TempDir
    private Path directory;

    @BeforeAll
    static void theLibraryIsForThisPlatform() {
        String platform = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        assumeTrue(
                Set.of("Linux amd64", "Linux x86_64").contains(platform),
                "Helm's library is here for Linux on x86-64 only, and this is " + platform);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{agent: {enabled: true}}", "{agent: {simulated: {enabled: true}}}"})
    void everyPodHasAPolicyOfItsOwn(String values) throws IOException {
        List<Manifest> chart = rendered(values);

        List<Manifest> pods = chart.stream().filter(Manifest::hasPods).toList();
        assertThat(pods).isNotEmpty();
        for (Manifest manifest : pods) {
            JsonNode labels = manifest.template().at("/metadata/labels");
            List<Manifest> policies = chart.stream()
                    .filter(other -> other.kind().equals("NetworkPolicy"))
                    .filter(policy -> selects(policy, labels))
                    .toList();
            assertThat(policies).as(manifest.name()).hasSize(1);
            assertThat(policies.get(0).root().at("/spec/policyTypes")).hasToString("[\"Ingress\",\"Egress\"]");
        }
    }

    @Test
    void onlyHealthAndMetricsComeIn() throws IOException {
        String values = "{networkPolicy: {metricsFrom: [{namespaceSelector: {matchLabels: {team: monitoring}}}]}}";

        JsonNode ingress = policy(values, "scheduler").at("/spec/ingress");
        JsonNode unnarrowed = policy("{}", "scheduler").at("/spec/ingress/0/from");

        assertThat(ingress)
                .hasToString("[{\"ports\":[{\"protocol\":\"TCP\",\"port\":9404}],"
                        + "\"from\":[{\"namespaceSelector\":{\"matchLabels\":{\"team\":\"monitoring\"}}}]}]");
        assertThat(unnarrowed).hasToString("[{\"namespaceSelector\":{}}]");
        assertThat(policy("{}", "prepare").at("/spec/ingress"))
                .as("a job without inbound connections")
                .hasToString("[]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"scheduler", "forecaster", "actuator", "prepare"})
    void whatGoesOutIsForBrokersRegistryAndNames(String service) throws IOException {
        assertThat(ports(policy("{}", service))).containsExactly("53", "8081", "9092", "9095");
    }

    @Test
    void agentsThatAskTheApiServerMayReachItAndOthersMayNot() throws IOException {
        String rules = "networkPolicy: {extraEgress: {agent: [{ports: [{port: 8000}]}]}}";

        assertThat(ports(policy("{agent: {enabled: true, kubernetes: true}, " + rules + "}", "agent")))
                .containsExactly("443", "53", "6443", "8000", "8081", "9092", "9095");
        assertThat(ports(policy("{agent: {enabled: true}}", "agent"))).containsExactly("53", "8081", "9092", "9095");
    }

    /** What a driver or an endpoint needs is not known to the chart: an upgrade may not cut it off. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{actuator: {replicas: 1, settings: {actuator.driver: webhook}}} | actuator",
                "{agent: {enabled: true, kubernetes: true}} | agent",
                "{agent: {enabled: true, settings: {agent.dcgm-url: 'http://dcgm:9400/metrics'}}} | agent"
            })
    void whatSettingsTalkToIsOpenUntilRulesAreGiven(String values, String service) throws IOException {
        assertThat(ports(policy(values, service))).contains("any");
        String narrowed = values.substring(0, values.length() - 1)
                + ", networkPolicy: {extraEgress: {%s: [{ports: [{port: 8443}]}]}}}".formatted(service);
        assertThat(ports(policy(narrowed, service))).contains("8443").doesNotContain("any");
    }

    @Test
    void portsAndPeersCanBeGiven() throws IOException {
        String values =
                "{networkPolicy: {kafka: {ports: [9999], to: [{ipBlock: {cidr: 10.0.0.0/8}}]}, registry: {ports: [8443]}}}";

        JsonNode scheduler = policy(values, "scheduler");

        assertThat(ports(scheduler)).containsExactly("53", "8443", "9999");
        assertThat(scheduler.at("/spec/egress/1/to")).hasToString("[{\"ipBlock\":{\"cidr\":\"10.0.0.0/8\"}}]");
    }

    @ParameterizedTest
    @CsvSource({"https://registry, 443", "http://registry/apis/ccompat/v7, 80", "http://registry:8080/apis/v7, 8080"})
    void aRegistrysPortIsThatOfItsAddress(String url, String port) throws IOException {
        assertThat(ports(policy("{registry: {url: '%s'}}".formatted(url), "scheduler")))
                .contains(port);
    }

    @Test
    void policiesCanBeTurnedOff() throws IOException {
        assertThat(rendered("{networkPolicy: {enabled: false}}"))
                .extracting(Manifest::kind)
                .isNotEmpty()
                .doesNotContain("NetworkPolicy");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{networkPolicy: {metricsFrom: []}} | at '/networkPolicy/metricsFrom': minItems",
                "{networkPolicy: {kafka: {ports: [90921]}}} | at '/networkPolicy/kafka/ports/0': maximum",
                "{networkPolicy: {egress: []}} | at '/networkPolicy': additional properties 'egress' not allowed"
            })
    void aWrongValueIsNamed(String values, String said) {
        assertThatThrownBy(() -> rendered(values)).hasMessageContaining(said);
    }

    private static boolean selects(Manifest policy, JsonNode labels) {
        return policy.root().at("/spec/podSelector/matchLabels").properties().stream()
                .allMatch(label -> label.getValue().equals(labels.get(label.getKey())));
    }

    /** Of all rules of egress; a rule for every port is "any". */
    private static Set<String> ports(JsonNode policy) {
        var ports = new TreeSet<String>();
        for (JsonNode rule : policy.at("/spec/egress")) {
            StreamSupport.stream(rule.path("ports").spliterator(), false)
                    .map(port -> port.path("port").asText("any"))
                    .forEach(ports::add);
        }
        return ports;
    }

    private JsonNode policy(String values, String service) throws IOException {
        return rendered(values).stream()
                .filter(manifest -> manifest.kind().equals("NetworkPolicy")
                        && manifest.name().equals("gpus-" + service))
                .findFirst()
                .orElseThrow()
                .root();
    }

    private List<Manifest> rendered(String values) throws IOException {
        return Manifest.readAll(new Helm(Path.of("../deploy/helm/lendstream"))
                .template()
                .withName("gpus")
                .withNamespace("lending")
                .withKubeVersion("1.25.0")
                .withValuesFile(Files.writeString(directory.resolve("addresses.yaml"), ADDRESSES))
                .withValuesFile(Files.writeString(directory.resolve("values.yaml"), values))
                .call());
    }
}
