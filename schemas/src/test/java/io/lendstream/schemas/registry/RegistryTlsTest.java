package io.lendstream.schemas.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RegistryTlsTest {
    private static final String PASSWORD = "changeit";

    @TempDir
    Path folder;

    private HttpsServer server;

    @BeforeEach
    void start() throws Exception {
        Path store = folder.resolve("registry.p12");
        keytool(
                "-genkeypair",
                "-alias",
                "registry",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=dns:localhost,ip:127.0.0.1",
                "-validity",
                "2",
                "-keystore",
                store.toString(),
                "-storetype",
                "PKCS12");
        keytool(
                "-exportcert",
                "-rfc",
                "-alias",
                "registry",
                "-keystore",
                store.toString(),
                "-file",
                folder.resolve("registry.pem").toString());
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.createContext("/subjects", exchange -> {
            byte[] answer = "[\"nodes-value\"]".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void trustsTheCertificateOfATruststore() {
        RegistryClient byStore = client(Map.of(
                "schema.registry.ssl.truststore.location",
                folder.resolve("registry.p12").toString(),
                "schema.registry.ssl.truststore.type",
                "PKCS12",
                "schema.registry.ssl.truststore.password",
                PASSWORD));
        RegistryClient byPem = client(Map.of(
                "schema.registry.ssl.truststore.location",
                folder.resolve("registry.pem").toString(),
                "schema.registry.ssl.truststore.type",
                "PEM"));

        assertThat(byStore.subjects()).isEqualTo(List.of("nodes-value"));
        assertThat(byPem.subjects()).isEqualTo(List.of("nodes-value"));
    }

    @Test
    void doesNotTrustAStranger() {
        assertThatThrownBy(() -> client(Map.of()).subjects())
                .isInstanceOf(RegistryUnavailableException.class)
                .hasMessageContaining("certification path");
    }

    private RegistryClient client(Map<String, String> ssl) {
        Map<String, String> properties = new java.util.HashMap<>(ssl);
        properties.put(
                RegistrySettings.URL, "https://localhost:" + server.getAddress().getPort());
        properties.put(RegistrySettings.RETRIES, "0");
        return new RegistryClient(RegistrySettings.from(properties));
    }

    private static void keytool(String... arguments) throws Exception {
        List<String> command = new java.util.ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(arguments));
        command.addAll(List.of("-storepass", PASSWORD));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }
}
