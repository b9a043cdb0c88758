package io.lendstream.service.settings;

import io.lendstream.core.event.ServiceName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The values of a service's settings, from the command line, the environment, the file and the defaults, in this
 * order. All values are parsed at construction, so reading one cannot fail.
 *
 * <p>Unknown names stop the start. Names of other readers are accepted: {@code kafka.} and {@code schema.registry.}
 * go to the clients, {@code flink.} to Flink, and the settings of the other services may be in the same file.
 */
public final class Settings {
    static final String VARIABLE_PREFIX = "LENDSTREAM_";

    /**
     * Prefixes read by the clients of Kafka and of the registry, and by the forecaster's Flink; any name is accepted.
     */
    private static final List<String> PASSED_THROUGH = List.of("kafka.", "schema.registry.", "flink.");

    /** The services; each reads the settings that start with its name. */
    private static final Set<ServiceName> SERVICES = EnumSet.complementOf(EnumSet.of(ServiceName.ENVIRONMENT));

    /** Variables that the launcher, the developer tasks and the tests read. */
    private static final Set<String> OTHER_VARIABLES = Set.of(
            "LENDSTREAM_LOG",
            "LENDSTREAM_CONFIG",
            "LENDSTREAM_DATA",
            "LENDSTREAM_FAKETIME",
            "LENDSTREAM_HOME",
            "LENDSTREAM_JAVA",
            "LENDSTREAM_JVM_OPTIONS",
            "LENDSTREAM_JAVA_OPTS",
            "LENDSTREAM_NO_BUILD",
            "LENDSTREAM_PYTHON_TORCH",
            "LENDSTREAM_TEST_PYTHON");

    /** Variables that Kubernetes adds to every container for a Service named lendstream-something. */
    private static final Pattern SERVICE_LINK =
            Pattern.compile(".*(_SERVICE_HOST|_SERVICE_PORT(_[A-Z0-9_]+)?|_PORT(_\\d+_(TCP|UDP)(_[A-Z]+)?)?)");

    /** User and password in an address. */
    private static final Pattern LOGIN = Pattern.compile("(?<=://)[^/\\s]*@");

    private final Map<Key<?>, Object> values;
    private final SortedMap<String, String> given;

    private record Given(String value, String where) {}

    private Settings(Map<Key<?>, Object> values, SortedMap<String, String> given) {
        this.values = values;
        this.given = given;
    }

    /**
     * Reads settings.
     *
     * @param keys all settings of the service
     * @param file names and values of its file, in the order of its lines; empty without a file
     * @param environment the process's variables; only names that start with {@code LENDSTREAM_} count
     * @param arguments {@code name=value}; later ones take precedence
     */
    public static Settings of(
            Collection<Key<?>> keys, SettingsFile file, Map<String, String> environment, List<String> arguments) {
        var known = new TreeMap<String, Key<?>>();
        for (Key<?> key : keys) {
            if (known.put(key.name(), key) != null) {
                throw new IllegalArgumentException("setting %s is declared twice".formatted(key.name()));
            }
        }
        var given = new TreeMap<String, Given>();
        file.values().forEach((name, value) -> {
            if (check(name, known.keySet(), file.name())) {
                given.put(name, new Given(value, file.name()));
            }
        });
        given.putAll(ofEnvironment(known, environment));
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            if (equals < 1) {
                throw new SettingsException(
                        "--set takes name=value, but got '%s'. Write for example --set health.port=9404."
                                .formatted(argument));
            }
            String name = argument.substring(0, equals).strip();
            if (!check(name, known.keySet(), "--set")) {
                throw new SettingsException(
                        "%s is a setting of another service. Set it there, or leave it out.".formatted(name));
            }
            given.put(name, new Given(argument.substring(equals + 1).strip(), "--set"));
        }
        return read(known.values(), given);
    }

    /** Reads settings from arguments alone; for tests and for commands without a file. */
    public static Settings of(Collection<Key<?>> keys, String... arguments) {
        return of(keys, SettingsFile.NONE, Map.of(), List.of(arguments));
    }

    /** The value of a setting. */
    @SuppressWarnings("unchecked") // read() put a T under each Key<T>
    public <T> T get(Key<T> key) {
        if (!values.containsKey(key)) {
            throw new IllegalArgumentException("setting %s was not declared".formatted(key.name()));
        }
        return (T) values.get(key);
    }

    /** All set names with a prefix, without that prefix. */
    public SortedMap<String, String> under(String prefix) {
        var under = new TreeMap<String, String>();
        given.forEach((name, value) -> {
            if (name.startsWith(prefix)) {
                under.put(name.substring(prefix.length()), value);
            }
        });
        return under;
    }

    /** All set values by name, without secrets; for the log. */
    public SortedMap<String, String> given() {
        var shown = new TreeMap<String, String>();
        given.forEach((name, value) -> shown.put(
                name, isSecret(name) ? "(hidden)" : LOGIN.matcher(value).replaceAll("(hidden)@")));
        return shown;
    }

    private static boolean isSecret(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return List.of("password", "secret", "token", "jaas", "user.info", ".key").stream()
                .anyMatch(lower::contains);
    }

    private static Settings read(Collection<Key<?>> keys, Map<String, Given> given) {
        var values = new LinkedHashMap<Key<?>, Object>();
        for (Key<?> key : keys) {
            Given said = given.getOrDefault(key.name(), new Given(key.otherwise(), "default"));
            values.put(key, key.read(said.value, said.where));
        }
        var texts = new TreeMap<String, String>();
        given.forEach((name, said) -> texts.put(name, said.value));
        return new Settings(values, Collections.unmodifiableSortedMap(texts));
    }

    private static Map<String, Given> ofEnvironment(SortedMap<String, Key<?>> known, Map<String, String> environment) {
        var byVariable = new TreeMap<String, String>();
        known.keySet().forEach(name -> byVariable.put(Key.variable(name), name));
        var given = new TreeMap<String, Given>();
        new TreeMap<>(environment).forEach((variable, value) -> {
            if (!variable.startsWith(VARIABLE_PREFIX)
                    || OTHER_VARIABLES.contains(variable)
                    || (SERVICE_LINK.matcher(variable).matches() && !byVariable.containsKey(variable))) {
                return;
            }
            String rest = variable.substring(VARIABLE_PREFIX.length()).toLowerCase(Locale.ROOT);
            Optional<String> passed = PASSED_THROUGH.stream()
                    .filter(prefix -> rest.startsWith(prefix.replace('.', '_')))
                    .map(prefix -> rest.replace('_', '.'))
                    .findFirst();
            Optional<String> name = passed.or(() -> Optional.ofNullable(byVariable.get(variable)));
            boolean own = ownService(known.keySet(), rest.replace('_', '.'));
            if (name.isPresent()) {
                given.put(name.get(), new Given(value, variable));
            } else if (own || !isOfAService(rest.replace('_', '.'))) {
                throw unknown(variable, byVariable.keySet(), "the environment");
            }
        });
        return given;
    }

    /** Whether a name concerns this service; a name that concerns no service stops the start. */
    private static boolean check(String name, Set<String> known, String where) {
        if (known.contains(name) || PASSED_THROUGH.stream().anyMatch(name::startsWith)) {
            return true;
        }
        if (isOfAService(name) && !ownService(known, name)) {
            return false;
        }
        throw unknown(name, known, where);
    }

    private static boolean isOfAService(String name) {
        return name.indexOf('.') > 0
                && ServiceName.of(name.substring(0, name.indexOf('.')))
                        .filter(SERVICES::contains)
                        .isPresent();
    }

    private static boolean ownService(Set<String> known, String name) {
        int dot = name.indexOf('.');
        return dot > 0 && known.stream().anyMatch(own -> own.startsWith(name.substring(0, dot + 1)));
    }

    private static SettingsException unknown(String name, Collection<String> known, String where) {
        return new SettingsException("%s (%s) is not a setting%s"
                .formatted(
                        name,
                        where,
                        Nearest.to(name, known)
                                .map(near -> "; did you mean %s? Correct it, or leave it out.".formatted(near))
                                .orElse(". Leave it out; docs/configuration.md lists all settings.")));
    }

    /** The settings that differ from their defaults, for people. */
    public List<String> lines() {
        var lines = new ArrayList<String>();
        given().forEach((name, value) -> lines.add(name + "=" + value));
        return lines;
    }
}
