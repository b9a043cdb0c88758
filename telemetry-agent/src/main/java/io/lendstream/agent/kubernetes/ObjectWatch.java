package io.lendstream.agent.kubernetes;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.service.Stop;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows some of a cluster's objects: it lists them, and then watches their changes. While the API server does not
 * answer, the last known state remains.
 *
 * @param <T> the data kept of an object
 * @see <a
 *     href="https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes">Watches</a>
 */
final class ObjectWatch<T> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ObjectWatch.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    /** All outcomes of requests, counted from 0 on. */
    private static final List<String> OUTCOMES = List.of("listed", "watched", "failed");

    /**
     * The watched objects.
     *
     * @param objects their name, for people and for metrics
     * @param path their path, with a query that selects them
     * @param accept content type of a list of them
     * @param acceptEach content type of each in a watch
     * @param ifNone message if there are none; blank if that is normal
     */
    record Question(String objects, String path, String accept, String acceptEach, String ifNone) {}

    /**
     * Time limits of a watch.
     *
     * @param watch requested duration of a watch; whole seconds
     * @param grace how much longer than that a silence may last
     * @param first delay after a failure; doubled after each further one
     * @param longest longest such delay
     */
    record Pace(Duration watch, Duration grace, Duration first, Duration longest) {
        static final Pace USUAL =
                new Pace(Duration.ofSeconds(60), Duration.ofSeconds(10), Duration.ofSeconds(1), Duration.ofSeconds(30));
    }

    private final ApiServer server;
    private final Question question;
    private final Pace pace;
    private final Function<JsonNode, Optional<T>> reader;
    private final MeterRegistry metrics;
    private final Stop stop = new Stop();
    private final CountDownLatch listed = new CountDownLatch(1);
    private volatile List<T> known = List.of();
    private final Thread thread;

    private final Map<String, T> byUid = new TreeMap<>();
    private final Map<String, String> refused = new HashMap<>();
    private Optional<String> version = Optional.empty();
    private Optional<String> trouble = Optional.empty();

    /**
     * Starts a watch at once.
     *
     * @param reader converts an object, or ignores it; an {@link IllegalArgumentException} describes an invalid one
     */
    ObjectWatch(
            ApiServer server,
            Question question,
            Pace pace,
            Function<JsonNode, Optional<T>> reader,
            MeterRegistry metrics) {
        this.server = server;
        this.question = question;
        this.pace = pace;
        this.reader = reader;
        this.metrics = metrics;
        OUTCOMES.forEach(this::requests);
        this.thread = new Thread(this::keepUp, "kubernetes-" + question.objects());
        thread.setDaemon(true);
        thread.start();
    }

    /** The data of all objects, as of the server's last answer. */
    Collection<T> known() {
        return known;
    }

    /** Waits for the first list, up to a time limit; returns whether it has arrived. */
    boolean awaitFirst(Duration patience) throws InterruptedException {
        return listed.await(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void keepUp() {
        Duration pause = pace.first();
        while (!stop.isRequested()) {
            long began = System.nanoTime();
            try {
                boolean isFirst = version.isEmpty();
                if (isFirst) {
                    list();
                } else {
                    watch();
                }
                say(Optional.empty());
                if (isFirst || System.nanoTime() - began > pace.first().toNanos()) {
                    pause = pace.first();
                    continue; // a watch that ends at once counts as a failure
                }
            } catch (ApiException e) {
                if (e.isGone()) {
                    version = Optional.empty();
                } else {
                    failed(e);
                }
            } catch (IOException e) {
                failed(e);
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                LOG.error("watching {} failed; the watch is restarted", question.objects(), e);
            }
            rest(pause);
            Duration longer = pause.multipliedBy(2);
            pause = longer.compareTo(pace.longest()) > 0 ? pace.longest() : longer;
        }
    }

    /** Random delays, so that agents that lost the server together do not all reconnect together. */
    private void rest(Duration pause) {
        long millis = pause.toMillis();
        stop.waitFor(Duration.ofMillis(millis / 2 + ThreadLocalRandom.current().nextLong(millis / 2 + 1)));
    }

    private void list() throws IOException, InterruptedException {
        byte[] answer = server.get(question.path() + "&resourceVersion=0", question.accept());
        var found = new TreeMap<String, T>();
        Optional<String> of = Optional.empty();
        var before = new HashMap<>(refused);
        refused.clear();
        try (JsonParser parser = JSON.getFactory().createParser(answer)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                JsonToken token = parser.nextToken();
                if (name.equals("metadata")) {
                    JsonNode metadata = JSON.readTree(parser);
                    of = Optional.of(metadata.path("resourceVersion").asText(""))
                            .filter(text -> !text.isEmpty());
                } else if (name.equals("items") && token == JsonToken.START_ARRAY) {
                    while (parser.nextToken() != JsonToken.END_ARRAY) {
                        JsonNode object = JSON.readTree(parser); // one object at a time: a pod may have many kB
                        take(object, found, before);
                    }
                } else {
                    parser.skipChildren();
                }
            }
        }
        if (of.isEmpty()) {
            throw new IOException(
                    "%s returned something other than a list of %s".formatted(server, question.objects()));
        }
        byUid.clear();
        byUid.putAll(found);
        version = of;
        requests("listed").increment();
        publish();
        if (byUid.isEmpty() && !question.ifNone().isBlank()) {
            LOG.warn("{}", question.ifNone());
        }
        listed.countDown();
    }

    private void watch() throws IOException, InterruptedException {
        String path = "%s&watch=1&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%s"
                .formatted(question.path(), pace.watch().toSeconds(), version.orElseThrow());
        try (Lines lines = server.stream(path, question.acceptEach())) {
            Duration patience = pace.watch().plus(pace.grace());
            requests("watched").increment();
            for (Optional<String> line = lines.next(patience); line.isPresent(); line = lines.next(patience)) {
                if (!line.get().isBlank()) {
                    take(JSON.readTree(line.get()));
                }
            }
        }
    }

    private void take(JsonNode event) throws IOException {
        JsonNode object = event.path("object");
        switch (event.path("type").asText()) {
            case "ADDED", "MODIFIED" -> take(object, byUid, Map.copyOf(refused));
            case "DELETED" -> {
                byUid.remove(uid(object));
                refused.remove(uid(object));
            }
            case "BOOKMARK" -> {} // only a position
            case "ERROR" ->
                throw new ApiException(
                        object.path("code").asInt(), object.path("message").asText("the watch failed"));
            default ->
                throw new IOException("%s reported an unknown change '%s'"
                        .formatted(server, event.path("type").asText()));
        }
        version = Optional.of(object.path("metadata").path("resourceVersion").asText(""))
                .filter(text -> !text.isEmpty())
                .or(() -> version);
        publish();
    }

    /** @param said messages about invalid objects */
    private void take(JsonNode object, Map<String, T> into, Map<String, String> said) {
        String uid = uid(object);
        into.remove(uid);
        refused.remove(uid);
        try {
            reader.apply(object).ifPresent(kept -> into.put(uid, kept));
        } catch (IllegalArgumentException e) {
            String why = String.valueOf(e.getMessage());
            refused.put(uid, why);
            if (!why.equals(said.get(uid))) {
                LOG.warn("{}", why);
            }
        }
    }

    private static String uid(JsonNode object) {
        return object.path("metadata").path("uid").asText("");
    }

    private void publish() {
        known = List.copyOf(byUid.values());
    }

    private void failed(IOException e) {
        if (!stop.isRequested()) {
            requests("failed").increment();
            say(Optional.of(String.valueOf(e.getMessage())));
        }
    }

    private Counter requests(String outcome) {
        return metrics.counter("lendstream.kubernetes.requests", "objects", question.objects(), "outcome", outcome);
    }

    private void say(Optional<String> now) {
        if (!now.equals(trouble)) {
            now.ifPresentOrElse(
                    why -> LOG.warn(
                            "the API server does not return {}; the last known state is used: {}",
                            question.objects(),
                            why),
                    () -> LOG.info("the API server returns {} again", question.objects()));
        }
        trouble = now;
    }

    @Override
    public void close() {
        stop.request();
        thread.interrupt();
    }
}
