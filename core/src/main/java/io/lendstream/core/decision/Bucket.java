package io.lendstream.core.decision;

import java.time.Duration;

/**
 * Requests of similar size that are batched together.
 *
 * @param upToSize largest input size of the bucket, to which its members are padded
 * @param maxBatch requests in one batch at most
 * @param maxQueueDelay how long a request may wait for company
 */
public record Bucket(double upToSize, int maxBatch, Duration maxQueueDelay) {}
