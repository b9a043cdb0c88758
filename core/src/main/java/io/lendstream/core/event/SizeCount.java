package io.lendstream.core.event;

import io.lendstream.core.id.Checks;

/**
 * One bar of an input-size histogram.
 *
 * @param upTo the largest input size counted here, in the service's own unit (tokens, pixels)
 */
public record SizeCount(double upTo, long requests) {
    public SizeCount {
        Checks.notNegative("upTo", upTo);
        Checks.atLeast("requests", 0, requests);
    }
}
