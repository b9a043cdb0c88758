package io.lendstream.core.policy;

import io.lendstream.core.event.DeadlineKind;
import java.time.Instant;

/**
 * The deadline of a job.
 *
 * @param share the GPUs with which an admitted job was to end by its hard deadline when it was admitted; 0 if the
 *     scheduler made no such promise
 */
public record Deadline(Instant at, DeadlineKind kind, int share) {}
