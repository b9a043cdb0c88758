package io.lendstream.load;

/** A service did not answer in time. */
final class StalledException extends RuntimeException {
    StalledException(String message) {
        super(message);
    }
}
