package io.lendstream.service.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class HealthAccessTest {
    private final List<HealthServer> servers = new ArrayList<>();

    @TempDir
    Path folder;

    @AfterEach
    void stop() {
        servers.forEach(HealthServer::close);
    }

    @Test
    void aLoginGuardsTheMetricsButNotTheProbes() throws Exception {
        Files.writeString(folder.resolve("password"), "s3cret\n");
        HealthServer server =
                start("127.0.0.1", "health.username=prometheus", "health.password-file=" + folder.resolve("password"));
        URI at = URI.create("http://127.0.0.1:" + server.port());

        assertThat(get(at.resolve("/health/live"), "").statusCode()).isEqualTo(200);
        assertThat(get(at.resolve("/health/ready"), "").statusCode()).isEqualTo(503);
        assertThat(get(at.resolve("/metrics"), "").statusCode()).isEqualTo(401);
        assertThat(get(at.resolve("/metrics"), "").headers().firstValue("WWW-Authenticate"))
                .contains("Basic realm=\"lendstream\"");
        assertThat(get(at.resolve("/more"), "").statusCode()).isEqualTo(401);
        assertThat(get(at.resolve("/metrics"), basic("prometheus:wrong")).statusCode())
                .isEqualTo(401);
        assertThat(get(at.resolve("/metrics"), basic("prometheus:s3cret")).statusCode())
                .isEqualTo(200);
        assertThat(get(at.resolve("/more"), basic("prometheus:s3cret")).body()).isEqualTo("more 1\n");
    }

    @Test
    void aKeystoreWithoutALocationStopsTheStart() {
        for (String setting : List.of(
                "health.ssl.keystore.type=PEM", "health.ssl.keystore.password=x", "health.ssl.key.password=x")) {
            assertThatThrownBy(() -> access(setting))
                    .isInstanceOf(SettingsException.class)
                    .hasMessage(
                            "%1$s is set, but health.ssl.keystore.location is not, so metrics would use plain HTTP."
                                    + " Set the keystore too, or leave %1$s out.",
                            setting.substring(0, setting.indexOf('=')));
        }
    }

    @Test
    void twoPasswordsStopTheStart() {
        assertThatThrownBy(() ->
                        access("health.username=prometheus", "health.password=x", "health.password-file=/tmp/password"))
                .isInstanceOf(SettingsException.class)
                .hasMessage("health.password and health.password-file are both set. Leave one of them out.");
    }

    @Test
    void aHalfConfiguredLoginStopsTheStart() {
        assertThatThrownBy(() -> access("health.username=prometheus"))
                .isInstanceOf(SettingsException.class)
                .hasMessage(
                        "health.username is prometheus, but there is no password. Set health.password-file to a file"
                                + " with the password, or health.password.");
        assertThatThrownBy(() -> access("health.password=x"))
                .hasMessage("health.password is set, but health.username is not. Set the user name too, or leave the"
                        + " password out.");
        assertThatThrownBy(() -> access("health.username=a:b", "health.password=x"))
                .hasMessageContaining("must not contain a colon");
        assertThatThrownBy(() -> access("health.username=a", "health.password-file=/does/not/exist"))
                .hasMessageContaining("health.password-file is /does/not/exist, but the file cannot be read");
        assertThatThrownBy(() -> access("health.ssl.keystore.location=/does/not/exist"))
                .hasMessageContaining("health.ssl.keystore.location is /does/not/exist (PKCS12), but cannot be used");
        assertThat(access("health.username=a", "health.password=secret").toString())
                .doesNotContain("secret");
    }

    @Test
    void aKeystoreMakesItHttps() throws Exception {
        Path store = folder.resolve("health.p12");
        keytool(
                "-genkeypair -alias health -keyalg EC -dname CN=localhost -ext SAN=dns:localhost -validity 2 -storetype PKCS12 -storepass changeit -keystore "
                        + store);
        HealthServer server =
                start("127.0.0.1", "health.ssl.keystore.location=" + store, "health.ssl.keystore.password=changeit");
        URI at = URI.create("https://localhost:" + server.port());
        HttpClient client = HttpClient.newBuilder().sslContext(trusting(store)).build();

        HttpResponse<String> live = client.send(
                HttpRequest.newBuilder(at.resolve("/health/live")).build(), HttpResponse.BodyHandlers.ofString());
        HttpResponse<String> metrics = client.send(
                HttpRequest.newBuilder(at.resolve("/metrics")).build(), HttpResponse.BodyHandlers.ofString());

        assertThat(live.body()).isEqualTo("yes\n");
        assertThat(metrics.body()).contains("of_health_total");
    }

    @Test
    void aKeyAndItsCertificateInOnePemFileMakeItHttps() throws Exception {
        Path store = folder.resolve("health.p12");
        keytool(
                "-genkeypair -alias health -keyalg EC -dname CN=localhost -ext SAN=dns:localhost -validity 2 -storetype PKCS12 -storepass changeit -keystore "
                        + store);
        KeyStore keys = keys(store);
        Path pem = Files.writeString(
                folder.resolve("health.pem"),
                pem(
                                "PRIVATE KEY",
                                keys.getKey("health", "changeit".toCharArray()).getEncoded())
                        + pem("CERTIFICATE", keys.getCertificate("health").getEncoded()));
        HealthServer server = start("127.0.0.1", "health.ssl.keystore.location=" + pem, "health.ssl.keystore.type=PEM");
        HttpClient client = HttpClient.newBuilder().sslContext(trusting(store)).build();

        HttpResponse<String> live = client.send(
                HttpRequest.newBuilder(URI.create("https://localhost:%d/health/live".formatted(server.port())))
                        .build(),
                HttpResponse.BodyHandlers.ofString());

        assertThat(live.body()).isEqualTo("yes\n");
    }

    @Test
    void anOpenPortIsWarnedOfUnlessThereIsALogin() throws Exception {
        assertThat(warnings("127.0.0.1")).isEmpty();
        assertThat(warnings("0.0.0.0", "health.username=a", "health.password=b"))
                .isEmpty();
        assertThat(warnings("0.0.0.0"))
                .singleElement()
                .asString()
                .startsWith("health.address is 0.0.0.0: every machine that reaches port")
                .contains("health.username");
    }

    private List<String> warnings(String host, String... settings) throws IOException {
        var logger = (Logger) LoggerFactory.getLogger(HealthServer.class);
        var lines = new ListAppender<ILoggingEvent>();
        lines.start();
        logger.addAppender(lines);
        try {
            start(host, settings);
        } finally {
            logger.detachAppender(lines);
        }
        return lines.list.stream()
                .filter(event -> event.getLevel().levelStr.equals("WARN"))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    private HealthServer start(String host, String... settings) throws IOException {
        var metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        metrics.counter("of.health").increment();
        HealthServer server =
                HealthServer.start(host, 0, access(settings), new Health(), metrics, Map.of("/more", () -> "more 1\n"));
        servers.add(server);
        return server;
    }

    private static HealthAccess access(String... settings) {
        return HealthAccess.of(Settings.of(CommonKeys.ALL, settings));
    }

    private static HttpResponse<String> get(URI uri, String authorization) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri);
        if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
        }
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String basic(String login) {
        return "Basic " + Base64.getEncoder().encodeToString(login.getBytes(UTF_8));
    }

    private static SSLContext trusting(Path store) throws Exception {
        KeyStore keys = keys(store);
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("health", keys.getCertificate("health"));
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    private static KeyStore keys(Path store) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, "changeit".toCharArray());
        }
        return keys;
    }

    private static String pem(String what, byte[] encoded) {
        return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
                .formatted(what, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded));
    }

    private static void keytool(String arguments) throws Exception {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(Arrays.asList(arguments.split(" ", -1)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }
}
