package io.lendstream.scheduler;

import java.util.function.Supplier;

/** Work on one domain whose failure must not end the process. */
final class RefusingCall {
    private RefusingCall() {}

    /**
     * Does work that changes nothing.
     *
     * @throws RefusedException where it fails, unless the broker, the registry or the network is to blame: that is thrown as it is
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
