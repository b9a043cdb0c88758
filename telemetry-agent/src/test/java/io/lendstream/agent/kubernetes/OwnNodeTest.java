package io.lendstream.agent.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.lendstream.agent.rates.EndpointPresets;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnNodeTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final ObjectWatch.Pace QUICK = new ObjectWatch.Pace(
            Duration.ofSeconds(2), Duration.ofSeconds(1), Duration.ofMillis(50), Duration.ofMillis(200));
    private static final Map<String, String> COUNTED = Map.of("lendstream.io/scrape-preset", "vllm");
    private static final String SINCE = "2026-01-01T12:00:00Z";
    private static final String STATE = "nvidia.com/mig.config.state";
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    Path directory;

    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private PlayedApi api;

    @BeforeEach
    void start() throws IOException {
        api = new PlayedApi();
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void podsOfThisNodeAreKnownAsTheyComeAndGo() {
        api.put("pods", PlayedApi.pod("n1", "u1", "chat-0", COUNTED, SINCE));
        api.put("pods", PlayedApi.pod("n2", "u2", "chat-1", COUNTED, SINCE));
        api.put("pods", PlayedApi.pod("n1", "u3", "uncounted", Map.of(), SINCE));
        try (OwnNode node = follow()) {
            until(() -> names(node).equals(List.of("ml/chat-0")));
            until(() -> api.watching() == 2);

            api.put("pods", PlayedApi.pod("n1", "u4", "code-0", COUNTED, SINCE));
            until(() -> names(node).equals(List.of("ml/chat-0", "ml/code-0")));
            api.put("pods", PlayedApi.pod("n1", "u4", "code-0", Map.of(), SINCE));
            until(() -> names(node).equals(List.of("ml/chat-0")));
            api.remove("pods", "u1");
            until(() -> names(node).isEmpty());
        }
        assertThat(api.asked())
                .filteredOn(asked -> asked.path().equals("/api/v1/pods"))
                .allSatisfy(asked -> assertThat(asked.query()).containsEntry("fieldSelector", "spec.nodeName=n1"))
                .filteredOn(asked -> !asked.query().containsKey("watch"))
                .as("listed once, from the server's cache")
                .singleElement()
                .satisfies(asked -> assertThat(asked.query()).containsEntry("resourceVersion", "0"));
    }

    @Test
    void whileMigIsChangedTheLabelSaysSo() {
        api.put("nodes", PlayedApi.node("n1", STATE, "success"));
        api.put("nodes", PlayedApi.node("n2", STATE, "pending"));
        try (OwnNode node = follow()) {
            until(() -> api.watching() == 2);
            assertThat(node.migChange()).isEmpty();

            for (String state : List.of("pending", "rebooting")) {
                api.put("nodes", PlayedApi.node("n1", STATE, state));
                until(() -> node.migChange()
                        .filter(("MIG is being changed: the node's label " + STATE + " is " + state)::equals)
                        .isPresent());
            }
            api.put("nodes", PlayedApi.node("n1", STATE, "failed"));
            until(() -> node.migChange().isEmpty());
        }
        assertThat(api.asked())
                .filteredOn(asked -> asked.path().equals("/api/v1/nodes"))
                .as("without the node's status")
                .allSatisfy(asked -> assertThat(asked.accept())
                        .contains(
                                asked.query().containsKey("watch")
                                        ? "as=PartialObjectMetadata;"
                                        : "as=PartialObjectMetadataList;"));
    }

    @Test
    void whileTheServerIsAwayWhatIsKnownStandsAndThenItIsCaughtUpWith() {
        api.put("pods", PlayedApi.pod("n1", "u1", "chat-0", COUNTED, SINCE));
        try (OwnNode node = follow()) {
            until(() -> names(node).equals(List.of("ml/chat-0")));
            until(() -> api.watching() == 2);

            api.refuse("pods", 503);
            api.hangUp();
            until(() -> requests("pods", "failed") >= 2);
            assertThat(names(node)).containsExactly("ml/chat-0");

            api.remove("pods", "u1");
            api.put("pods", PlayedApi.pod("n1", "u5", "chat-5", COUNTED, SINCE));
            api.refuse("pods", 0);
            until(() -> names(node).equals(List.of("ml/chat-5")));
        }
    }

    @Test
    void aVersionThatTheServerHasForgottenMeansToListAgain() {
        api.put("pods", PlayedApi.pod("n1", "u1", "chat-0", COUNTED, SINCE));
        try (OwnNode node = follow()) {
            until(() -> api.watching() == 2);
            api.forget();
            until(() -> requests("pods", "listed") == 2);

            assertThat(names(node)).containsExactly("ml/chat-0");
            assertThat(requests("pods", "failed")).isZero();
            assertThat(metrics.get("lendstream.kubernetes.requests")
                            .tags("objects", "pods", "outcome", "failed")
                            .counters())
                    .as("counted from 0 on")
                    .hasSize(1);
        }
    }

    @Test
    void aWatchThatEndsAtItsTimeGoesOnFromWhereItWas() {
        api.put("pods", PlayedApi.pod("n1", "u1", "chat-0", COUNTED, SINCE));
        try (OwnNode node = follow()) {
            until(() -> requests("pods", "watched") >= 3);

            assertThat(requests("pods", "listed")).isEqualTo(1);
            assertThat(names(node)).containsExactly("ml/chat-0");
        }
    }

    @Test
    void aRightThatIsMissingIsMissedInOneThingAlone() {
        api.put("pods", PlayedApi.pod("n1", "u1", "chat-0", COUNTED, SINCE));
        api.refuse("nodes", 403);
        try (OwnNode node = follow()) {
            until(() -> names(node).equals(List.of("ml/chat-0")));
            until(() -> requests("nodes", "failed") >= 1);

            assertThat(node.migChange()).isEmpty();
        }
    }

    @Test
    void aPodThatCannotBeFollowedDoesNotKeepOthersFromIt() {
        api.put("pods", PlayedApi.pod("n1", "u0", "wrong-0", Map.of("lendstream.io/scrape-preset", "vlm"), SINCE));
        api.put("pods", PlayedApi.pod("n1", "u1", "chat-0", COUNTED, SINCE));
        try (OwnNode node = follow()) {
            until(() -> names(node).equals(List.of("ml/chat-0")));
            until(() -> api.watching() == 2);
            api.put("pods", PlayedApi.pod("n1", "u0", "wrong-0", COUNTED, SINCE));
            until(() -> names(node).equals(List.of("ml/chat-0", "ml/wrong-0")));
        }
    }

    @Test
    void theServiceAccountAsksAndTheClustersCertificatesAreBelieved() throws Exception {
        Path keys = keys("api");
        Files.writeString(directory.resolve("token"), "secret\n");
        try (PlayedApi secured = secured(keys)) {
            secured.put("pods", PlayedApi.pod("n1", "u1", "chat-0", COUNTED, SINCE));
            var server =
                    new ApiServer(URI.create("https://localhost:" + secured.port()), directory, Duration.ofSeconds(5));
            keytool("-exportcert", "-rfc", "-alias", "api", "-file", "ca.crt", "-keystore", keys.toString());
            try (OwnNode node = follow(server)) {
                until(() -> names(node).equals(List.of("ml/chat-0")));
                until(() -> secured.watching() == 2);
            }
            assertThat(secured.asked())
                    .allSatisfy(asked -> assertThat(asked.authorization()).isEqualTo("Bearer secret"));

            Path others = keys("other");
            Files.delete(directory.resolve("ca.crt"));
            keytool("-exportcert", "-rfc", "-alias", "other", "-file", "ca.crt", "-keystore", others.toString());
            int before = secured.asked().size();
            assertThatThrownBy(() -> server.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", "application/json"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("https://localhost:")
                    .hasMessageContaining("PKIX");
            assertThat(secured.asked()).as("the token was not shown").hasSize(before);
        }
    }

    @Test
    void theServerIsThePodsOwnUnlessOneIsSet() {
        Map<String, String> pod = Map.of("KUBERNETES_SERVICE_HOST", "fd00::1", "KUBERNETES_SERVICE_PORT_HTTPS", "6443");

        assertThat(ApiServer.of("", directory, pod)).hasToString("https://[fd00::1]:6443");
        assertThat(ApiServer.of("http://127.0.0.1:8001/", directory, Map.of())).hasToString("http://127.0.0.1:8001");
        assertThatThrownBy(() -> ApiServer.of("", directory, Map.of()))
                .hasMessageContaining("KUBERNETES_SERVICE_HOST is not set")
                .hasMessageContaining("agent.kubernetes-url");
        assertThatThrownBy(() -> ApiServer.of("10.96.0.1:443", directory, Map.of()))
                .hasMessageContaining("agent.kubernetes-url is '10.96.0.1:443', but must be a URL");
    }

    private OwnNode follow() {
        return follow(new ApiServer(URI.create(api.url()), directory, Duration.ofSeconds(5)));
    }

    private OwnNode follow(ApiServer server) {
        return OwnNode.follow(server, "n1", new PodReader(EndpointPresets.ours(), Set.of()), metrics, QUICK);
    }

    private static List<String> names(OwnNode node) {
        return node.pods().stream().map(PodTarget::name).sorted().toList();
    }

    private long requests(String objects, String outcome) {
        return (long)
                metrics
                        .find("lendstream.kubernetes.requests")
                        .tags("objects", objects, "outcome", outcome)
                        .counters()
                        .stream()
                        .mapToDouble(counter -> counter.count())
                        .sum();
    }

    private static void until(Callable<Boolean> holds) {
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(holds);
    }

    private PlayedApi secured(Path keys) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keys)) {
            store.load(in, PASSWORD);
        }
        var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(store, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        return new PlayedApi(server);
    }

    private Path keys(String alias) throws Exception {
        Path keys = directory.resolve(alias + ".p12");
        keytool(
                "-genkeypair",
                "-alias",
                alias,
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + alias,
                "-ext",
                "SAN=dns:localhost,ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-keystore",
                keys.toString());
        return keys;
    }

    private void keytool(String... arguments) throws Exception {
        var command = new java.util.ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(Arrays.asList(arguments));
        command.addAll(List.of("-storepass", new String(PASSWORD)));
        Process keytool = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(said).isZero();
    }
}
