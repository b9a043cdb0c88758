package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Maps connections to workers. A worker is known once its first message was accepted. */
final class WorkerConnections {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerConnections.class);

    private final Map<WorkerServer.Connection, Worker> workers = new HashMap<>();

    Optional<Worker> worker(WorkerServer.Connection connection) {
        return Optional.ofNullable(workers.get(connection));
    }

    /** Answers the first message on a connection; returns its worker, if it may stay. */
    Optional<Worker> greet(WorkerServer.Connection from, Frames.Frame first, Collection<Job> jobs) {
        JsonNode hello = first.message();
        Optional<Worker> known = jobs.stream()
                .flatMap(job -> job.workers().find(hello.path("worker").asText()).stream())
                .filter(worker ->
                        worker.identity().token().equals(hello.path("token").asText()))
                .findFirst();
        ObjectNode answer = Frames.JSON.createObjectNode().put("version", JobHost.VERSION);
        Optional<String> refusal = refusal(first, known.isPresent());
        if (refusal.isPresent()) {
            LOG.warn("refused a worker's connection: {}", refusal.get());
            from.send(answer.put("type", "refused").put("why", refusal.get()), new byte[0]);
            from.close();
            return Optional.empty();
        }
        from.send(answer.put("type", "welcome"), new byte[0]);
        Worker worker = known.orElseThrow();
        worker.connect(from);
        workers.put(from, worker);
        return known;
    }

    /** Why the sender of a first message is refused; empty if it is accepted. */
    static Optional<String> refusal(Frames.Frame first, boolean isKnown) {
        int version = first.message().path("version").asInt();
        if (version != JobHost.VERSION) {
            return Optional.of(
                    "the worker uses protocol version %d, but this node process uses %d; use the lendstream_afe of this release"
                            .formatted(version, JobHost.VERSION));
        }
        return first.type().equals("hello") && isKnown
                ? Optional.empty()
                : Optional.of("no worker %s with this token is expected here"
                        .formatted(first.message().path("worker").asText()));
    }

    /** Forgets a closed connection; returns its worker. */
    Optional<Worker> forget(WorkerServer.Connection closed) {
        Optional<Worker> worker = Optional.ofNullable(workers.remove(closed));
        worker.ifPresent(each -> each.disconnect(closed));
        return worker;
    }

    void close() {
        workers.keySet().forEach(WorkerServer.Connection::close);
    }
}
