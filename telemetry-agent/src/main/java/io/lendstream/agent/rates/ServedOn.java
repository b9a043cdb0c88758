package io.lendstream.agent.rates;

import io.lendstream.core.id.KindId;
import java.util.Optional;

/**
 * What a server runs on, for the batches that it reports.
 *
 * @param profile profile of its MIG instance; empty for a whole GPU
 * @param kind kind of its GPU; only needed where its service runs on several kinds
 */
public record ServedOn(Optional<String> profile, Optional<KindId> kind) {
    /** A whole GPU of the kind that all replicas of the service have. */
    public static final ServedOn WHOLE = new ServedOn(Optional.empty(), Optional.empty());
}
