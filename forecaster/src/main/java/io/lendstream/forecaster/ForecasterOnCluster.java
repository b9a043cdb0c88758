package io.lendstream.forecaster;

import io.lendstream.service.ServiceCommand;
import java.util.stream.Stream;

/**
 * Submits the job to the Flink cluster that runs this program. It may run inside the cluster's own process, so it
 * never ends that process; it reports a failure as an exception.
 */
public final class ForecasterOnCluster {
    private ForecasterOnCluster() {}

    /** Takes the arguments of {@code lendstream forecaster}. */
    public static void main(String[] arguments) {
        String[] all = Stream.concat(Stream.of(arguments), Stream.of("--set", "forecaster.mode=cluster"))
                .toArray(String[]::new);
        var command = new ForecasterMain();
        int exit = ServiceCommand.execute(command, all);
        if (exit != 0) {
            throw new IllegalStateException(
                    "the job was not submitted: "
                            + command.failure().map(Exception::getMessage).orElse("the command line is wrong"),
                    command.failure().orElse(null));
        }
    }
}
