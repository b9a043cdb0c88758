package io.lendstream.actuator;

import io.lendstream.schemas.topics.Topic;
import io.lendstream.service.ServiceCommand;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.Key;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code lendstream actuator}. */
@Command(
        name = "actuator",
        description = "Carries decisions out and reports back: to jobs, model servers and GPUs through drivers.",
        footer = {
            "",
            "Example:",
            "  lendstream actuator --bootstrap-server broker:9092 \\",
            "      --registry http://registry:8081 \\",
            "      --state-dir /var/lib/lendstream"
        })
final class ActuatorCommand extends ServiceCommand {
    private static final Duration PATIENCE = Duration.ofMillis(200);

    @Option(
            names = "--driver",
            paramLabel = "NAME",
            description = "What carries decisions out: simulated or dry-run. Default: simulated.")
    private Optional<String> driver = Optional.empty();

    @Option(names = "--state-dir", paramLabel = "DIR", description = "Where it keeps what it has done.")
    private Optional<String> stateDir = Optional.empty();

    @Override
    protected String service() {
        return "actuator";
    }

    @Override
    protected List<Key<?>> keys() {
        return ActuatorSettings.KEYS;
    }

    @Override
    protected List<Topic<?>> topics() {
        return ActuatorService.TOPICS;
    }

    @Override
    protected List<String> options() {
        var options = new ArrayList<String>();
        driver.ifPresent(name -> options.add(ActuatorSettings.DRIVER.name() + "=" + name));
        stateDir.ifPresent(directory -> options.add(ActuatorSettings.STATE_DIR.name() + "=" + directory));
        return options;
    }

    @Override
    protected void check(ServiceContext context) {
        ActuatorSettings.of(context.settings());
    }

    @Override
    protected int serve(ServiceContext context) {
        ActuatorSettings settings = ActuatorSettings.of(context.settings());
        try (RecordWriter writer = context.writer();
                RecordReader reader = context.reader(writer)) {
            var service = new ActuatorService(
                    settings,
                    reader,
                    writer,
                    () -> context.reader(writer),
                    context.health(),
                    context.metrics(),
                    InstantSource.system(),
                    context.isVirtual());
            service.start(context.stop()::isRequested);
            while (!context.stop().isRequested()) {
                service.turn(PATIENCE);
            }
            service.finish();
        }
        return DONE;
    }
}
