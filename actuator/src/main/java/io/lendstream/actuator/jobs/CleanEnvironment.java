package io.lendstream.actuator.jobs;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The environment variables that a job, a replica or a command inherits from the actuator. They are those in an
 * allow-list, and those that the site names. The actuator's own settings are never passed on, because they may
 * contain the broker's password.
 */
public final class CleanEnvironment {
    /** The prefix of the actuator's own settings. */
    public static final String OWN = "LENDSTREAM_";

    private static final Set<String> NAMES = Set.of(
            "CONDA_DEFAULT_ENV",
            "CONDA_PREFIX",
            "HOME",
            "LANG",
            "LANGUAGE",
            "LD_LIBRARY_PATH",
            "LOGNAME",
            "PATH",
            "PYTHONPATH",
            "SHELL",
            "TMPDIR",
            "TZ",
            "USER",
            "VIRTUAL_ENV",
            "XDG_CACHE_HOME");
    private static final List<String> STARTS = List.of(
            "CUDA_",
            "GLOO_",
            "LC_",
            "MKL_",
            "NCCL_",
            "NVIDIA_",
            "OMP_",
            "PYTORCH_",
            "TORCH_",
            "TORCHINDUCTOR_",
            "UCX_");
    /** Such a variable is passed on only if the site names it in full. */
    private static final Pattern SECRET = Pattern.compile("PASSW|SECRET|TOKEN|CREDENTIAL|JAAS|AUTH|(^|_)KEYS?($|_)");

    private static final Pattern NAMED = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*\\*?");

    private final SortedMap<String, String> variables;

    private CleanEnvironment(SortedMap<String, String> variables) {
        this.variables = Collections.unmodifiableSortedMap(variables);
    }

    /**
     * Selects the variables to inherit.
     *
     * @param all the actuator's own environment
     * @param named further names; a name that ends in {@code *} is a prefix
     * @throws IllegalArgumentException if {@link #complaint} rejects {@code named}
     */
    public static CleanEnvironment of(Map<String, String> all, List<String> named) {
        complaint(named).ifPresent(why -> {
            throw new IllegalArgumentException(why);
        });
        SortedMap<String, String> clean = new TreeMap<>();
        all.forEach((name, value) -> {
            if (passes(name, named)) {
                clean.put(name, value);
            }
        });
        return new CleanEnvironment(clean);
    }

    /** The selection from this process, without further names. */
    public static CleanEnvironment ofThisProcess() {
        return of(System.getenv(), List.of());
    }

    /** The problem with a list of further names, with the way out; empty without one. */
    public static Optional<String> complaint(List<String> named) {
        for (String name : named) {
            if (!NAMED.matcher(name).matches()) {
                return Optional.of(
                        "'%s' is not the name of an environment variable; use letters, digits and '_', with '*' at the end for all names that start so"
                                .formatted(name));
            }
            if (name.toUpperCase(Locale.ROOT).startsWith(OWN)) {
                return Optional.of(
                        "%s is a setting of the actuator, which jobs never get; set it in the job's program file if the job needs it"
                                .formatted(name));
            }
        }
        return Optional.empty();
    }

    private static boolean passes(String name, List<String> named) {
        String upper = name.toUpperCase(Locale.ROOT);
        if (upper.startsWith(OWN)) {
            return false;
        }
        if (named.contains(name)) {
            return true;
        }
        boolean allowed = NAMES.contains(name)
                || STARTS.stream().anyMatch(name::startsWith)
                || named.stream()
                        .anyMatch(each -> each.endsWith("*") && name.startsWith(each.substring(0, each.length() - 1)));
        return allowed && !SECRET.matcher(upper).find();
    }

    /** By name, in order. */
    public SortedMap<String, String> variables() {
        return variables;
    }

    /**
     * Replaces a process's environment with this one, and adds the variables of its program.
     *
     * @throws IllegalArgumentException if a name or a value has a NUL, or a name has '='
     */
    public void set(ProcessBuilder process, Map<String, String> more) {
        process.environment().clear();
        process.environment().putAll(variables);
        process.environment().putAll(more);
    }
}
