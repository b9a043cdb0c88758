package io.lendstream.schemas.registry;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to a schema registry and reads the JSON answers. After a connection failure or a server error, a
 * request is repeated at the other addresses and then, after a growing pause, from the first one. Any other refusal
 * is final.
 */
final class RegistryConnection {
    private static final String CONTENT_TYPE = "application/vnd.schemaregistry.v1+json";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final RegistrySettings settings;
    private final HttpClient http;
    private final AtomicInteger preferred = new AtomicInteger();

    RegistryConnection(RegistrySettings settings) {
        this.settings = settings;
        HttpClient.Builder builder = HttpClient.newBuilder()
                .connectTimeout(settings.connectTimeout())
                .followRedirects(HttpClient.Redirect.NEVER)
                .version(HttpClient.Version.HTTP_1_1);
        if (!settings.ssl().isEmpty()) {
            DefaultSslEngineFactory ssl = new DefaultSslEngineFactory();
            ssl.configure(new ConfigDef().withClientSslSupport().parse(settings.ssl()));
            builder.sslContext(ssl.sslContext());
        }
        this.http = builder.build();
    }

    JsonNode get(String path) {
        return send("GET", path, null);
    }

    JsonNode post(String path, JsonNode body) {
        return send("POST", path, body);
    }

    JsonNode put(String path, JsonNode body) {
        return send("PUT", path, body);
    }

    private JsonNode send(String method, String path, @Nullable JsonNode body) {
        Duration wait = settings.retryWait();
        for (int round = 0; ; round++) {
            RegistryUnavailableException failure = null;
            int first = preferred.get();
            for (int i = 0; i < settings.urls().size(); i++) {
                int index = (first + i) % settings.urls().size();
                try {
                    JsonNode answer = ask(settings.urls().get(index), method, path, body);
                    preferred.set(index);
                    return answer;
                } catch (RegistryUnavailableException e) {
                    failure = e;
                }
            }
            if (failure != null
                    && (round >= settings.retries() || Thread.currentThread().isInterrupted())) {
                throw failure;
            }
            pause(wait);
            wait = wait.multipliedBy(2);
            if (wait.compareTo(settings.longestRetryWait()) > 0) {
                wait = settings.longestRetryWait();
            }
        }
    }

    private static void pause(Duration wait) {
        try {
            Thread.sleep(wait.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RegistryUnavailableException(
                    "interrupted while waiting to ask the schema registry again", 0, 0, e);
        }
    }

    private JsonNode ask(URI url, String method, String path, @Nullable JsonNode body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path))
                .timeout(settings.readTimeout())
                .header("Accept", CONTENT_TYPE + ", application/json");
        settings.authorization().ifPresent(value -> request.header("Authorization", value.value()));
        if (body == null) {
            request.method(method, HttpRequest.BodyPublishers.noBody());
        } else {
            request.header("Content-Type", CONTENT_TYPE)
                    .method(method, HttpRequest.BodyPublishers.ofString(body.toString(), StandardCharsets.UTF_8));
        }
        String what = "%s %s%s".formatted(method, url, path);
        CompletableFuture<HttpResponse<String>> exchange = http.sendAsync(request.build(), answer -> new BoundedBody());
        // The request's own timeout ends with the answer's headers.
        Duration patience = settings.connectTimeout().plus(settings.readTimeout());
        try {
            return answer(what, exchange.get(patience.toMillis(), TimeUnit.MILLISECONDS));
        } catch (ExecutionException e) {
            throw failed(what, e.getCause() == null ? e : e.getCause());
        } catch (TimeoutException e) {
            exchange.cancel(true);
            throw failed(what, new IOException("no complete answer within %d ms".formatted(patience.toMillis()), e));
        } catch (InterruptedException e) {
            exchange.cancel(true);
            Thread.currentThread().interrupt();
            throw new RegistryUnavailableException("interrupted while asking the schema registry: " + what, 0, 0, e);
        }
    }

    private static RegistryException failed(String what, Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof BoundedBody.TooLargeException) {
                return new UnreadableSchemaException(
                        "%s was answered with more than %d bytes, which is no schema that this client reads"
                                .formatted(what, BoundedBody.LARGEST_BYTES),
                        failure);
            }
        }
        String detail = failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
        return new RegistryUnavailableException(
                "no answer from the schema registry to %s: %s".formatted(what, detail), 0, 0, failure);
    }

    private static JsonNode answer(String what, HttpResponse<String> response) {
        int status = response.statusCode();
        String text = response.body();
        Optional<JsonNode> json = json(text);
        if (status >= 200 && status < 300) {
            return json.orElseThrow(() -> new RegistryUnavailableException(
                    "%s was answered with something other than JSON, so %s may not be a schema registry: %s"
                            .formatted(what, RegistrySettings.URL, shortened(text)),
                    status,
                    0,
                    null));
        }
        throw status >= 300 && status < 400 ? redirected(what, response) : refused(what, status, text, json);
    }

    private static RegistryException redirected(String what, HttpResponse<String> response) {
        return new RegistryException(
                "%s was answered with a redirect to %s, which is not followed. Set %s to the registry's own address"
                        .formatted(
                                what,
                                shortened(response.headers()
                                        .firstValue("Location")
                                        .orElse("nowhere")),
                                RegistrySettings.URL),
                response.statusCode(),
                0,
                null);
    }

    private static RegistryException refused(String what, int status, String text, Optional<JsonNode> json) {
        int code = json.map(node -> node.path("error_code").asInt(0)).orElse(0);
        String reason = json.map(node -> node.path("message").asText(""))
                .filter(message -> !message.isEmpty())
                .orElseGet(() -> shortened(text));
        String message =
                "%s was refused with HTTP %d%s: %s".formatted(what, status, code == 0 ? "" : ", error " + code, reason);
        if (status >= 500 || status == 429 || status == 408) {
            return new RegistryUnavailableException(message, status, code, null);
        }
        return switch (status) {
            case 401, 403 ->
                new RegistryException(
                        message + ". Check " + RegistrySettings.USER_INFO + " and that user's permissions",
                        status,
                        code,
                        null);
            // A registry's error names the missing object; a 404 without such a name comes from a wrong address.
            case 404 ->
                json.isPresent() && code != 0 && code != 404
                        ? new SchemaNotFoundException(message, status, code)
                        : new RegistryException(
                                message + ". Check the path of " + RegistrySettings.URL, status, code, null);
            case 409 -> new IncompatibleSchemaException(message, status, code);
            default -> new RegistryException(message, status, code, null);
        };
    }

    private static Optional<JsonNode> json(String text) {
        try {
            JsonNode node = JSON.readTree(text);
            return node == null || node.isMissingNode() ? Optional.empty() : Optional.of(node);
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    private static String shortened(String text) {
        return text.length() > 200 ? text.substring(0, 200) + "..." : text;
    }
}
