package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Answers workers' requests to the rendezvous store of the epoch whose group is being built; there is at most one. */
final class RendezvousStore {
    private Optional<EpochStore> store = Optional.empty();
    private long epoch;

    /** Opens the store of an epoch; the previous store ends. */
    void open(long nextEpoch) {
        end();
        epoch = nextEpoch;
        store = Optional.of(new EpochStore());
    }

    void end() {
        store.ifPresent(EpochStore::end);
        store = Optional.empty();
    }

    /** Fails requests that have timed out. */
    void expire(long nowNanos) {
        store.ifPresent(each -> each.expire(nowNanos));
    }

    void ask(JsonNode request, ByteBuffer body, long nowNanos, EpochStore.Answer answer) {
        if (store.isEmpty() || request.path("epoch").asLong() != epoch) {
            answer.error("the membership epoch is over", false);
            return;
        }
        List<String> keys = new ArrayList<>();
        request.path("keys").forEach(key -> keys.add(key.asText()));
        byte[] value = new byte[body.remaining()];
        body.get(value);
        store.get()
                .ask(
                        request.path("operation").asText(),
                        keys,
                        value,
                        request.path("timeoutMillis").asLong(),
                        nowNanos,
                        answer);
    }
}
