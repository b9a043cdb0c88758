package io.lendstream.service;

import io.lendstream.core.event.ServiceName;
import io.lendstream.schemas.codec.mapping.Clamped;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.health.Health;
import io.lendstream.service.health.HealthAccess;
import io.lendstream.service.health.HealthServer;
import io.lendstream.service.health.MetricTexts;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.UnreachableException;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.ReferencePage;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import io.lendstream.service.settings.SettingsFile;
import io.lendstream.service.text.Printable;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/**
 * A service as a command: it reads its settings, waits for the broker, and serves until it is stopped. It exits with
 * 0 after a stop, 1 after a failure, and 2 after wrong use; each error is one line. The error that ends it is printed
 * even if the log is off.
 */
@CommandLine.Command(
        mixinStandardHelpOptions = true,
        versionProvider = ServiceCommand.Version.class,
        sortOptions = false,
        abbreviateSynopsis = true,
        synopsisHeading = "%nUsage: ",
        optionListHeading = "%nOptions:%n",
        usageHelpAutoWidth = true)
public abstract class ServiceCommand implements Callable<Integer> {
    protected static final int DONE = 0;
    protected static final int FAILED = 1;
    protected static final int WRONG_USE = 2;

    private static final Logger LOG = LoggerFactory.getLogger(ServiceCommand.class);
    private static final long STOP_SECONDS = 20;

    private final Stop stop = new Stop();
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile int exit = FAILED;
    private volatile Optional<Exception> failure = Optional.empty();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Settings: Java properties, or YAML without nesting. See docs/configuration.md.")
    private Optional<Path> config = Optional.empty();

    @Option(
            names = "--bootstrap-server",
            paramLabel = "HOST:PORT",
            description = {
                "Address of the Kafka brokers. Default: localhost:9092.",
                "Short for --set kafka.bootstrap.servers=HOST:PORT."
            })
    private Optional<String> bootstrapServer = Optional.empty();

    @Option(
            names = "--registry",
            paramLabel = "URL",
            description = {
                "Address of the schema registry.",
                "Default: http://localhost:8081.",
                "Short for --set schema.registry.url=URL."
            })
    private Optional<String> registry = Optional.empty();

    @Option(
            names = "--set",
            paramLabel = "NAME=VALUE",
            description =
                    "One setting; takes precedence over the environment (LENDSTREAM_NAME) and the file; may be repeated.")
    private List<String> sets = new ArrayList<>();

    @Option(names = "--list-settings", description = "Print every setting with its values and default, and exit.")
    private boolean listSettings;

    @Option(
            names = "--check",
            description =
                    "Check that the settings are valid on this machine, without contacting other services, and exit.")
    private boolean checkOnly;

    /** The service's name, which is the prefix of its settings. */
    protected abstract ServiceName service();

    /** The service's own settings, beside the common ones. */
    protected abstract List<Key<?>> keys();

    /** The topics that must exist before the service starts. */
    protected abstract List<Topic<?>> topics();

    /** Whether the service writes for one group of writers, so that the setting {@code intake} selects its topics. */
    protected boolean writesToIntake() {
        return false;
    }

    /** Runs until the work is done or a stop is requested; returns the exit status. */
    protected abstract int serve(ServiceContext context) throws Exception;

    /** Checks the service's own settings before anything is contacted; throws if they are invalid. */
    protected void check(ServiceContext context) {}

    /** Settings from the command's own options, as {@code name=value}; {@code --set} takes precedence. */
    protected List<String> options() {
        return List.of();
    }

    /** Whether this run needs Kafka to start; if so, it waits for a broker. */
    protected boolean needsKafka(Settings settings) {
        return true;
    }

    /**
     * Whether this run is a service, whose errors go to the log with time and level; otherwise they are plain lines.
     */
    protected boolean runsUnattended() {
        return true;
    }

    /** Further texts for Prometheus by their HTTP paths, beside health and metrics. */
    protected Map<String, Supplier<String>> pages() {
        return Map.of();
    }

    /** Runs a command and returns its exit status. */
    public static int execute(ServiceCommand command, String... arguments) {
        var line = new CommandLine(command);
        line.setCommandName("lendstream " + command.service());
        line.setHelpSectionKeys(HelpSections.IN_ORDER);
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setParameterExceptionHandler((failure, given) -> misused(failure));
        line.setExecutionExceptionHandler((failure, of, parsed) -> {
            command.failure = Optional.of(failure);
            return command.report(failure);
        });
        var hook = new Thread(command::stopAndWait, "stop");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            command.exit = line.execute(arguments);
        } finally {
            command.ended.countDown();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            LOG.debug("stopping already", e);
        }
        return command.exit;
    }

    /** The failure of the run; empty without one, or after wrong use. */
    public final Optional<Exception> failure() {
        return failure;
    }

    @Override
    public final Integer call() throws Exception {
        if (listSettings) {
            System.out.print(ReferencePage.section(
                    service().toString(), "Settings of `lendstream %s`.".formatted(service()), keys()));
            System.out.println();
            System.out.print(ReferencePage.section("every service", "Settings of every service.", CommonKeys.ALL));
            return DONE;
        }
        Settings settings = settings(System.getenv());
        TopicCatalogue catalogue = catalogue(settings);
        KafkaSettings kafka = KafkaSettings.of(service().toString(), settings);
        var health = new Health();
        PrometheusMeterRegistry metrics = metrics();
        var context = new ServiceContext(service(), settings, kafka, catalogue, health, metrics, stop);
        check(context);
        HealthAccess access = HealthAccess.of(settings);
        if (checkOnly) {
            return DONE;
        }
        Optional<HealthServer> server = startHealth(settings, access, health, metrics);
        try {
            if (needsKafka(settings)
                    && !Connection.await(
                            kafka,
                            catalogue,
                            topics(),
                            settings.get(CommonKeys.CONNECT_TIMEOUT),
                            settings.get(CommonKeys.WAIT_FOR_BROKER),
                            stop::waitFor,
                            health::notReady)) {
                return DONE;
            }
            return serve(context);
        } finally {
            server.ifPresent(HealthServer::close);
        }
    }

    /** Reads the settings; {@link #check} validates the service's own. */
    Settings settings(Map<String, String> environment) {
        var all = new ArrayList<Key<?>>(CommonKeys.ALL);
        all.addAll(keys());
        var arguments = new ArrayList<String>(options());
        bootstrapServer.ifPresent(address -> arguments.add("kafka.bootstrap.servers=" + address));
        registry.ifPresent(address -> arguments.add("schema.registry.url=" + address));
        arguments.addAll(sets);
        return Settings.of(all, config.map(SettingsFile::read).orElse(SettingsFile.NONE), environment, arguments);
    }

    private TopicCatalogue catalogue(Settings settings) {
        try {
            return new TopicCatalogue(
                    settings.get(CommonKeys.TOPIC_PREFIX),
                    settings.get(CommonKeys.INTAKES),
                    writesToIntake() ? settings.get(CommonKeys.INTAKE) : Optional.empty());
        } catch (IllegalArgumentException e) {
            throw new SettingsException(
                    "topic-prefix '%s' with the given intakes and intake is invalid: %s"
                            .formatted(settings.get(CommonKeys.TOPIC_PREFIX), e.getMessage()),
                    e);
        }
    }

    private PrometheusMeterRegistry metrics() {
        var metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        metrics.config().commonTags("service", service().toString()).meterFilter(MetricTexts.ours());
        new JvmMemoryMetrics().bindTo(metrics);
        new JvmThreadMetrics().bindTo(metrics);
        new ProcessorMetrics().bindTo(metrics);
        new UptimeMetrics().bindTo(metrics);
        Clamped.each((field, count) -> metrics.more()
                .counter(
                        "lendstream.clamped.values",
                        Tags.of("record", field.record(), "field", field.name()),
                        count,
                        LongSupplier::getAsLong));
        return metrics;
    }

    private Optional<HealthServer> startHealth(
            Settings settings, HealthAccess access, Health health, PrometheusMeterRegistry metrics) {
        Optional<Integer> port = settings.get(CommonKeys.HEALTH_PORT);
        if (port.isEmpty()) {
            return Optional.empty();
        }
        String host = settings.get(CommonKeys.HEALTH_ADDRESS);
        try {
            return Optional.of(HealthServer.start(host, port.get(), access, health, metrics, pages()));
        } catch (IOException e) {
            throw new UnreachableException(
                    "health.port is %d, but the service cannot listen on it at %s (health.address): %s. Choose another port, or 0 for any free port."
                            .formatted(port.get(), host, e.getMessage()),
                    e);
        }
    }

    private static int misused(CommandLine.ParameterException failure) {
        System.err.println(Printable.line(UsageErrors.line(failure)));
        return WRONG_USE;
    }

    private int report(Exception failure) {
        boolean isForUsers = failure instanceof SettingsException || failure instanceof UnreachableException;
        String line = isForUsers ? String.valueOf(failure.getMessage()) : "stopped by a failure: " + failure;
        if (!LOG.isErrorEnabled() || (isForUsers && (checkOnly || !runsUnattended()))) {
            System.err.println(Printable.line(line));
        } else if (isForUsers) {
            LOG.error("{}", line);
        } else {
            LOG.error("stopped by a failure", failure);
        }
        return failure instanceof SettingsException ? WRONG_USE : FAILED;
    }

    /** Logs the error that ends the service, or prints it if the log is off; returns the exit status. */
    protected static int failed(String error) {
        if (LOG.isErrorEnabled()) {
            LOG.error("{}", error);
        } else {
            System.err.println(Printable.line(error));
        }
        return FAILED;
    }

    /** Shutdown hook: requests a stop and waits for the service to end. */
    private void stopAndWait() {
        stop.request();
        try {
            if (ended.await(STOP_SECONDS, TimeUnit.SECONDS)) {
                // Exit with the service's own status: after a signal the JVM would report the signal instead.
                Runtime.getRuntime().halt(exit);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The output of {@code --version}. */
    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {
                "lendstream "
                        + Optional.ofNullable(ServiceCommand.class.getPackage().getImplementationVersion())
                                .orElse("(development)")
            };
        }
    }
}
