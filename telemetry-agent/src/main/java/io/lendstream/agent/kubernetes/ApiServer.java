package io.lendstream.agent.kubernetes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.agent.rates.LimitedBody;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The API server of this pod's cluster, with the pod's service account and the cluster's own certificates. Both are
 * files that are replaced from time to time, so they are read at each request.
 *
 * @see <a href="https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/">Accessing the API from a pod</a>
 */
public final class ApiServer {
    /** The largest list: that of a node's pods, 110 at most by default, should have a few MB. */
    private static final int LARGEST = 64 << 20;

    private static final int FORBIDDEN = 403;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final URI url;
    private final Path account;
    private final Duration patience;
    private Optional<HttpClient> client = Optional.empty();
    private byte[] trusted = {};

    /**
     * Creates a client of an API server.
     *
     * @param account directory with the files {@code token} and {@code ca.crt}; without the first, requests are
     *     anonymous, without the second, the JVM's own certificates are trusted
     * @param patience time limit of an answer
     */
    ApiServer(URI url, Path account, Duration patience) {
        this.url = url;
        this.account = account;
        this.patience = patience;
    }

    /**
     * The API server from the settings, or from this pod's environment.
     *
     * @param url blank for the environment's address
     * @throws IllegalArgumentException if there is none, with the way out
     */
    public static ApiServer of(String url, Path account, Map<String, String> environment) {
        return new ApiServer(url.isBlank() ? ofPod(environment) : named(url.strip()), account, Duration.ofSeconds(10));
    }

    private static URI named(String url) {
        try {
            URI named = URI.create(url.endsWith("/") ? url.substring(0, url.length() - 1) : url);
            String scheme = Optional.ofNullable(named.getScheme()).orElse("").toLowerCase(Locale.ROOT);
            if ((scheme.equals("https") || scheme.equals("http")) && named.getHost() != null) {
                return named;
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(noAddress(url), e);
        }
        throw new IllegalArgumentException(noAddress(url));
    }

    private static String noAddress(String url) {
        return "agent.kubernetes-url is '%s', but must be a URL such as https://10.96.0.1:443.".formatted(url);
    }

    private static URI ofPod(Map<String, String> environment) {
        String host = environment.getOrDefault("KUBERNETES_SERVICE_HOST", "");
        if (host.isBlank()) {
            throw new IllegalArgumentException(
                    "agent.kubernetes is true, but KUBERNETES_SERVICE_HOST is not set, as it is in every pod. Name the API server in agent.kubernetes-url, or leave agent.kubernetes out.");
        }
        String port = environment.getOrDefault(
                "KUBERNETES_SERVICE_PORT_HTTPS", environment.getOrDefault("KUBERNETES_SERVICE_PORT", "443"));
        return URI.create("https://%s:%s".formatted(host.contains(":") ? "[" + host + "]" : host, port));
    }

    /**
     * Makes a request with a complete answer.
     *
     * @param path with its query
     * @throws ApiException if the server refuses
     */
    byte[] get(String path, String accept) throws IOException, InterruptedException {
        HttpRequest request = request(path, accept).timeout(patience).build();
        CompletableFuture<HttpResponse<byte[]>> coming = client().sendAsync(
                        request, response -> new LimitedBody(LARGEST, "A node's objects have no such list."));
        try {
            HttpResponse<byte[]> answer = coming.get(patience.toMillis(), TimeUnit.MILLISECONDS);
            if (answer.statusCode() != 200) {
                throw refused(answer.statusCode(), new String(answer.body(), StandardCharsets.UTF_8));
            }
            return answer.body();
        } catch (TimeoutException e) {
            coming.cancel(true);
            throw new IOException("%s has not answered within %s".formatted(url, patience), e);
        } catch (ExecutionException e) {
            throw failed(e.getCause() == null ? e : e.getCause());
        }
    }

    /** Makes a request that is answered line by line, without a time limit. */
    Lines stream(String path, String accept) throws IOException {
        var lines = new Lines(url.toString());
        lines.comeBy(client().sendAsync(request(path, accept).build(), lines));
        return lines;
    }

    private HttpRequest.Builder request(String path, String accept) throws IOException {
        var request = HttpRequest.newBuilder(URI.create(url + path))
                .header("Accept", accept)
                .header("User-Agent", "lendstream-agent")
                .GET();
        Path token = account.resolve("token");
        if (Files.exists(token)) {
            request.header(
                    "Authorization",
                    "Bearer " + Files.readString(token, StandardCharsets.UTF_8).strip());
        }
        return request;
    }

    /** The server's refusal, with its own message if it has one. */
    static ApiException refused(int status, String body) {
        String said;
        try {
            said = JSON.readTree(body).path("message").asText("");
        } catch (JsonProcessingException e) {
            said = "";
        }
        String wayOut = status == FORBIDDEN
                ? ". Let the agent's account list and watch them: deploy/agent/rights.yaml, or the chart's agent.kubernetes."
                : "";
        return new ApiException(
                status, "HTTP status %d%s%s".formatted(status, said.isBlank() ? "" : ": " + said, wayOut));
    }

    private IOException failed(Throwable cause) {
        return new IOException(
                "%s: %s".formatted(url, cause.getMessage() == null ? cause.toString() : cause.getMessage()), cause);
    }

    private synchronized HttpClient client() throws IOException {
        Path file = account.resolve("ca.crt");
        byte[] now = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
        if (client.isEmpty() || !Arrays.equals(now, trusted)) {
            var made = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .followRedirects(HttpClient.Redirect.NEVER)
                    .connectTimeout(patience);
            if (now.length > 0) {
                made.sslContext(believing(now));
            }
            client = Optional.of(made.build());
            trusted = now;
        }
        return client.get();
    }

    private SSLContext believing(byte[] certificates) throws IOException {
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            int number = 0;
            for (Certificate each : CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(certificates))) {
                store.setCertificateEntry("ca-" + number++, each);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(
                    "%s has no certificates that can be read: %s".formatted(account.resolve("ca.crt"), e), e);
        }
    }

    @Override
    public String toString() {
        return url.toString();
    }
}
