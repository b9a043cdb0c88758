package io.lendstream.scheduler;

import java.util.function.Supplier;

/** Work on one domain whose failure must not end the process. */
final class RefusingCall {
    private RefusingCall() {}

    /**
     * Runs work that changes nothing.
     *
     * @throws RefusedException if it fails; failures of the broker, the registry or the network are thrown unchanged
     */
    static <T> T of(Supplier<T> work) throws RefusedException {
        try {
            return work.get();
        } catch (RuntimeException | StackOverflowError e) {
            if (InfrastructureFailure.is(e)) {
                throw e;
            }
            throw new RefusedException(e);
        }
    }
}
