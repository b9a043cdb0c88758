package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.Order;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Posts every order as JSON to an address of the site's. 200 and 204 say that all of it is so; 202 that it is under way, and the
 * same order is posted again until it is; other 4xx that it will not be so; 429, 5xx and no answer are tried again.
 */
public final class WebhookDriver extends OutsideDriver {
    private static final Duration AGAIN = Duration.ofSeconds(1);
    private static final int LONGEST_REASON = 200;

    private final URI address;
    private final Optional<Path> token;
    private final HttpClient client;

    /** @param token a file with what is sent as a bearer token; it is read for every order, so that it may be renewed */
    public WebhookDriver(URI address, Optional<Path> token, Limits limits, Ear ear) {
        super("webhook-driver", limits, ear);
        this.address = address;
        this.token = token;
        this.client = HttpClient.newBuilder().connectTimeout(limits.timeout()).build();
    }

    @Override
    public List<String> plan(Order order) {
        return List.of("POST %s %s".formatted(address, OrderJson.of(order)));
    }

    @Override
    public List<String> complaints() {
        boolean isHttp = "http".equals(address.getScheme()) || "https".equals(address.getScheme());
        if (!isHttp || address.getHost() == null) {
            return List.of("actuator.webhook.url is '%s'; it must be an http or https address".formatted(address));
        }
        if (token.isPresent() && !Files.isReadable(token.get())) {
            return List.of("actuator.webhook.token-file is %s, which this user cannot read; correct it or its rights"
                    .formatted(token.get()));
        }
        return List.of();
    }

    @Override
    Attempt attempt(Order order) {
        try {
            String body = OrderJson.of(order);
            HttpRequest.Builder request = HttpRequest.newBuilder(address)
                    .timeout(limits().timeout())
                    .header("Content-Type", "application/json")
                    .header("Idempotency-Key", keyOf(body))
                    .POST(HttpRequest.BodyPublishers.ofString(body));
            if (token.isPresent()) {
                request.header(
                        "Authorization",
                        "Bearer " + Files.readString(token.get()).strip());
            }
            HttpResponse<String> answer =
                    client.send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
            int status = answer.statusCode();
            if (status == 200 || status == 204) {
                return new Attempt.Done();
            }
            String said = "%s answered %d: %s".formatted(address, status, shortened(answer.body()));
            boolean passes = status == 202 || status == 408 || status == 429 || status >= 500;
            return passes ? new Attempt.Again(AGAIN, said) : new Attempt.Hopeless(said);
        } catch (IOException e) {
            return new Attempt.Again(AGAIN, "%s does not answer: %s".formatted(address, e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Attempt.Again(AGAIN, "interrupted");
        }
    }

    /** The same for the same order, whoever posts it and however often; another for another order of the same decision. */
    private static String keyOf(String body) {
        return UUID.nameUUIDFromBytes(body.getBytes(StandardCharsets.UTF_8)).toString();
    }

    private static String shortened(String body) {
        String line = body.strip().replaceAll("\\s+", " ");
        return line.length() <= LONGEST_REASON ? line : line.substring(0, LONGEST_REASON) + "...";
    }
}
