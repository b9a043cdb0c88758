package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.Order;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/**
 * Posts every order as JSON to an address of the site. 200 and 204: the order is executed. 202: it is in progress,
 * and the same order is posted again until it is executed. Other 4xx: the order fails. 429, 5xx and an incomplete or
 * late answer: it is retried.
 *
 * <p>One attempt ends within the timeout, from connecting to the answer's last byte. At most 64 KiB of the answer are
 * read, then the connection is closed. Redirects are not followed.
 */
public final class WebhookDriver extends ExternalDriver {
    private static final Duration AGAIN = Duration.ofSeconds(1);
    private static final int MOST_BYTES = 64 << 10;
    private static final Pattern PRINTABLE = Pattern.compile("[\\x20-\\x7E]+");
    private static final Set<PosixFilePermission> OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE);

    private final URI address;
    private final String shown;
    private final Optional<Path> token;
    private final HttpClient client;

    /**
     * @param address an http or https address; a user and a password in it are sent as basic authentication if there
     *     is no token
     * @param token file with the bearer token; it is read for every order, so that it may be renewed
     */
    public WebhookDriver(URI address, Optional<Path> token, DriverLimits limits, DriverListener driverListener) {
        super("webhook-driver", limits, driverListener);
        this.address = address;
        this.shown = ShownAddress.of(address);
        this.token = token;
        this.client = HttpClient.newBuilder()
                .connectTimeout(limits.timeout())
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    @Override
    public List<String> plan(Order order) {
        return List.of("POST %s %s".formatted(shown, OrderJson.of(order)));
    }

    @Override
    public List<String> complaints() {
        boolean isHttp = "http".equals(address.getScheme()) || "https".equals(address.getScheme());
        if (!isHttp || address.getHost() == null) {
            return List.of("actuator.webhook.url is '%s', but must be an http or https address".formatted(shown));
        }
        if (token.isPresent() && !Files.isReadable(token.get())) {
            return List.of(
                    "actuator.webhook.token-file is %s, which this user cannot read; correct the path or its permissions"
                            .formatted(token.get()));
        }
        return List.of();
    }

    @Override
    public List<String> warnings() {
        return token
                .filter(WebhookDriver::isOpen)
                .map(file -> "actuator.webhook.token-file is %s, which other users may read or change; chmod 600 it"
                        .formatted(file))
                .stream()
                .toList();
    }

    private static boolean isOpen(Path file) {
        try {
            return Files.getPosixFilePermissions(file).stream().anyMatch(OTHERS::contains);
        } catch (IOException e) {
            return false; // complaints() reports a file that cannot be read
        }
    }

    @Override
    Attempt attempt(Order order) {
        Optional<String> authorization;
        try {
            authorization = authorization();
        } catch (IOException e) {
            return new Attempt.Again(AGAIN, String.valueOf(e.getMessage()));
        }
        String body = OrderJson.of(order);
        HttpRequest.Builder request = HttpRequest.newBuilder(address)
                .timeout(limits().timeout())
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", keyOf(body))
                .POST(HttpRequest.BodyPublishers.ofString(body));
        authorization.ifPresent(value -> request.header("Authorization", value));
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request.build(), any -> new FirstBytes(MOST_BYTES));
        try {
            return attempt(answer.get(limits().timeout().toNanos(), TimeUnit.NANOSECONDS));
        } catch (TimeoutException e) {
            return new Attempt.Again(
                    AGAIN, "%s gave no complete answer within %s".formatted(shown, limits().timeout()));
        } catch (ExecutionException e) {
            return new Attempt.Again(AGAIN, "%s does not answer: %s".formatted(shown, e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Attempt.Again(AGAIN, "interrupted");
        } finally {
            answer.cancel(true); // closes the connection of an incomplete answer
        }
    }

    private Attempt attempt(HttpResponse<String> answer) {
        int status = answer.statusCode();
        if (status == 200 || status == 204) {
            return new Attempt.Done();
        }
        if (status >= 300 && status < 400) {
            return new Attempt.Hopeless(
                    "%s answered %d, and redirects are not followed; set actuator.webhook.url to where it leads"
                            .formatted(shown, status));
        }
        String said = "%s answered %d: %s".formatted(shown, status, Shortened.of(answer.body()));
        boolean passes = status == 202 || status == 408 || status == 429 || status >= 500;
        return passes ? new Attempt.Again(AGAIN, said) : new Attempt.Hopeless(said);
    }

    /** The authorization header; it appears in no message. */
    private Optional<String> authorization() throws IOException {
        if (token.isEmpty()) {
            return Optional.ofNullable(address.getUserInfo())
                    .map(login ->
                            "Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8)));
        }
        Path file = token.get();
        String value;
        try (InputStream in = Files.newInputStream(file)) {
            value = new String(in.readNBytes(MOST_BYTES), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new IOException(
                    "actuator.webhook.token-file %s cannot be read: %s"
                            .formatted(file, e.getClass().getSimpleName()),
                    e);
        }
        if (!PRINTABLE.matcher(value).matches()) {
            throw new IOException(
                    "actuator.webhook.token-file %s must have one line of printable ASCII characters".formatted(file));
        }
        return Optional.of("Bearer " + value);
    }

    /**
     * An idempotency key: equal for the same order from any sender, and different for another order of the same
     * decision.
     */
    private static String keyOf(String body) {
        return UUID.nameUUIDFromBytes(body.getBytes(StandardCharsets.UTF_8)).toString();
    }
}
