package io.lendstream.actuator;

import io.lendstream.core.event.ServiceName;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.service.ServiceCommand;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import io.lendstream.service.time.TimeMode;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code lendstream actuator}. */
@Command(
        name = "actuator",
        description = "Executes the scheduler's decisions through a driver, and reports the results.",
        footer = {
            "",
            "Example:",
            "  lendstream actuator --bootstrap-server broker:9092 \\",
            "      --registry http://registry:8081 \\",
            "      --state-dir /var/lib/lendstream"
        })
final class ActuatorCommand extends ServiceCommand {
    @Option(
            names = "--driver",
            paramLabel = "NAME",
            description = "Driver that executes decisions: simulated (the default), process, command or webhook.")
    private Optional<String> driver = Optional.empty();

    @Option(names = "--state-dir", paramLabel = "DIR", description = "Directory for the actuator's state.")
    private Optional<String> stateDir = Optional.empty();

    @Option(names = "--dry-run", description = "Only log the orders that the driver would execute.")
    private boolean dryRun;

    @Override
    protected ServiceName service() {
        return ServiceName.ACTUATOR;
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
        if (dryRun) {
            options.add(ActuatorSettings.DRY_RUN.name() + "=true");
        }
        stateDir.ifPresent(directory -> options.add(ActuatorSettings.STATE_DIR.name() + "=" + directory));
        return options;
    }

    @Override
    protected void check(ServiceContext context) {
        ActuatorSettings settings = ActuatorSettings.of(context.settings());
        if (context.isVirtual() && settings.standby()) {
            throw new SettingsException(
                    "time is virtual, but actuator.standby is true, which needs the wall clock. Leave actuator.standby out, or use time=wall.");
        }
        if (context.isVirtual() && settings.driven().isPresent()) {
            throw new SettingsException(
                    "time is virtual, but actuator.driver is %s, which needs the wall clock. Use the simulated driver, or time=wall."
                            .formatted(settings.driver().name().toLowerCase(Locale.ROOT)));
        }
    }

    /**
     * With saved state the actuator starts without a broker, and waits for it while it works. With standby instances it
     * cannot know without the broker whether its state is the newest.
     */
    @Override
    protected boolean needsKafka(Settings settings) {
        return settings.get(CommonKeys.TIME) == TimeMode.VIRTUAL
                || settings.get(ActuatorSettings.STANDBY)
                || !ActuatorService.canStartAlone(ActuatorSettings.of(settings));
    }

    @Override
    protected int serve(ServiceContext context) {
        ActuatorSettings settings = ActuatorSettings.of(context.settings());
        var instance = new ActuatorInstance(context, settings);
        instance.withTheStateDirectory(context.isVirtual() ? () -> serveVirtually(context, settings) : instance::serve);
        return DONE;
    }

    private static void serveVirtually(ServiceContext context, ActuatorSettings settings) {
        try (RecordWriter writer = context.writer();
                RecordReader reader = context.reader(writer)) {
            var transport = new DirectTransport(settings.name(), reader, writer, () -> context.reader(writer));
            var service = ActuatorService.accelerated(
                    settings, transport, context.health(), context.metrics(), InstantSource.system());
            service.start(context.stop()::isRequested);
            while (!context.stop().isRequested()) {
                service.turn(ActuatorInstance.PATIENCE);
            }
            service.finish();
        }
    }
}
