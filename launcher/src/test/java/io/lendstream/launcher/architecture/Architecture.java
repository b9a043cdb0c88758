package io.lendstream.launcher.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.NullMarked;

/**
 * The shape of the code as rules: which module may know which, and that {@code core} knows nothing of the world.
 *
 * <p>A module is the first package below a base package, so that the rules can be tried on code that breaks them.
 *
 * @param base {@code io.lendstream}, or where the broken code lies
 */
record Architecture(String base) {

    /** Every module's package, and the modules below it. {@code benchmarks} measures all of them. */
    private static final Map<String, Set<String>> BELOW = Map.ofEntries(
            Map.entry("core", Set.of()),
            Map.entry("simulator", Set.of("core")),
            Map.entry("schemas", Set.of("core")),
            Map.entry("service", Set.of("schemas", "core")),
            Map.entry("agent", Set.of("service", "schemas", "core")),
            Map.entry("forecaster", Set.of("service", "schemas", "core")),
            Map.entry("scheduler", Set.of("service", "schemas", "core")),
            Map.entry("actuator", Set.of("service", "schemas", "core")),
            Map.entry("load", Set.of("simulator", "service", "schemas", "core")),
            Map.entry("embedded", Set.of()),
            Map.entry("stack", Set.of("core")),
            Map.entry("launcher", Set.of("stack", "simulator", "service", "schemas", "core")),
            Map.entry("mutation", Set.of()),
            Map.entry("benchmarks", Set.of("stack", "actuator", "simulator", "service", "schemas", "core")));

    /** A framework, and the one module that may know it: two of them must never meet on a class path. */
    private static final Map<String, String> HOME_OF = Map.of(
            "org.apache.flink", "forecaster",
            "org.apache.kafka.streams", "scheduler",
            "kafka", "embedded");

    private static final Set<String> CLOCKS_AND_DICE = Set.of(
            "java.lang.System.currentTimeMillis",
            "java.lang.System.nanoTime",
            "java.lang.System.getenv",
            "java.lang.System.getProperty",
            "java.lang.Math.random",
            "java.util.UUID.randomUUID",
            "java.util.concurrent.ThreadLocalRandom.current");

    private static final List<String> LAYERS =
            List.of("..util..", "..utils..", "..impl..", "..model..", "..common..", "..helper..", "..helpers..");

    ArchRule modulesKnowOnlyThoseBelow() {
        return classes()
                .that()
                .resideInAPackage(base + "..")
                .should(condition(
                        "know only the modules below them",
                        (type, events) -> type.getDirectDependenciesFromSelf()
                                .forEach(dependency -> checkDirection(dependency, events))))
                .because("topics are the only interface between services, and core is below everything");
    }

    ArchRule frameworksStayAtHome() {
        return classes()
                .that()
                .resideInAPackage(base + "..")
                .should(condition(
                        "leave Flink, Streams and the broker to their module",
                        (type, events) -> type.getDirectDependenciesFromSelf()
                                .forEach(dependency -> checkHome(dependency, events))))
                .because("Flink's and Streams' RocksDB must not share a JVM, and a service keeps a clean class path");
    }

    ArchRule coreIsPure() {
        return classes()
                .that()
                .resideInAPackage(base + ".core..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(base + ".core..", "java..", "org.jspecify..", "org.hipparchus..")
                .because("a decision must replay identically in production, in the simulator and in tests");
    }

    ArchRule coreDoesNoInputOrOutput() {
        return noClasses()
                .that()
                .resideInAPackage(base + ".core..")
                .should()
                .dependOnClassesThat(new DescribedPredicate<JavaClass>("do input, output or threads") {
                    @Override
                    public boolean test(JavaClass type) {
                        String in = type.getPackageName();
                        boolean world = in.matches("java\\.(io|net|nio\\.file|nio\\.channels|sql)(\\..*)?")
                                && !type.isEquivalentTo(Serializable.class);
                        return world
                                || type.isAssignableTo(Thread.class)
                                || type.isAssignableTo(Executor.class)
                                || type.isEquivalentTo(Process.class)
                                || type.isEquivalentTo(ProcessBuilder.class);
                    }
                })
                .because("core is given everything that it needs to know, and gives back what it decides");
    }

    ArchRule coreHasNoClockAndNoDice() {
        return classes()
                .that()
                .resideInAPackage(base + ".core..")
                .should(condition(
                        "take time from events and chance from a seed",
                        (type, events) ->
                                type.getAccessesFromSelf().forEach(access -> checkRepeatable(access, events))))
                .because("equal inputs give equal outputs");
    }

    ArchRule packagesAreNamedAfterIdeas() {
        return noClasses()
                .that()
                .resideInAPackage(base + "..")
                .should()
                .resideInAnyPackage(LAYERS.toArray(String[]::new))
                .because("a package says what its code is about, not which layer it is");
    }

    ArchRule packagesAreNullMarked() {
        return classes()
                .that()
                .resideInAPackage(base + "..")
                .should(condition("lie in a package that is @NullMarked", (type, events) -> {
                    if (!type.getPackage().isAnnotatedWith(NullMarked.class)) {
                        events.add(SimpleConditionEvent.violated(
                                type,
                                "%s lies in a package without @NullMarked package-info".formatted(type.getName())));
                    }
                }))
                .because("each package opens with what its idea is, and nothing is null unless it says so");
    }

    /** Packages are layers, also within a module. */
    ArchRule packagesHaveNoCycles() {
        return SlicesRuleDefinition.slices()
                .assignedFrom(new SliceAssignment() {
                    @Override
                    public SliceIdentifier getIdentifierOf(JavaClass type) {
                        return moduleOf(type).isEmpty()
                                ? SliceIdentifier.ignore()
                                : SliceIdentifier.of(type.getPackageName());
                    }

                    @Override
                    public String getDescription() {
                        return "packages of " + base;
                    }
                })
                .namingSlices("package $1")
                .should()
                .beFreeOfCycles()
                .because("a package that is below another can be read, changed and tested without it");
    }

    private void checkDirection(Dependency dependency, ConditionEvents events) {
        String from = moduleOf(dependency.getOriginClass());
        String to = moduleOf(dependency.getTargetClass());
        if (to.isEmpty() || from.equals(to)) {
            return;
        }
        Set<String> below = BELOW.getOrDefault(from, Set.of());
        if (!below.contains(to)) {
            events.add(SimpleConditionEvent.violated(
                    dependency, "%s may not know %s: %s".formatted(from, to, dependency.getDescription())));
        }
    }

    private void checkHome(Dependency dependency, ConditionEvents events) {
        String from = moduleOf(dependency.getOriginClass());
        String target = dependency.getTargetClass().getPackageName();
        HOME_OF.forEach((framework, home) -> {
            if ((target + ".").startsWith(framework + ".") && !from.equals(home)) {
                events.add(SimpleConditionEvent.violated(
                        dependency,
                        "%s may not know %s, only %s may: %s"
                                .formatted(from, framework, home, dependency.getDescription())));
            }
        });
    }

    private static void checkRepeatable(JavaAccess<?> access, ConditionEvents events) {
        String target = access.getTargetOwner().getName() + "." + access.getName();
        boolean now = access.getName().equals("now")
                && access.getTargetOwner().getPackageName().equals("java.time");
        boolean systemClock = target.startsWith("java.time.Clock.system") || target.startsWith("java.time.Clock.tick");
        boolean unseeded = access.getTarget() instanceof AccessTarget.ConstructorCallTarget made
                && made.getRawParameterTypes().isEmpty()
                && access.getTargetOwner()
                        .getName()
                        .matches("java\\.util\\.(Random|SplittableRandom|Date)|java\\.security\\.SecureRandom");
        if (now || systemClock || unseeded || CLOCKS_AND_DICE.contains(target)) {
            events.add(SimpleConditionEvent.violated(access, access.getDescription()));
        }
    }

    /** The first package below the base; empty for code that is not ours. */
    private String moduleOf(JavaClass type) {
        String prefix = base + ".";
        String name = type.getPackageName() + ".";
        return name.startsWith(prefix) ? name.substring(prefix.length()).split("\\.", 2)[0] : "";
    }

    private static ArchCondition<JavaClass> condition(String description, Check check) {
        return new ArchCondition<>(description) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                check.check(type, events);
            }
        };
    }

    /** Looks at one class. */
    private interface Check {
        void check(JavaClass type, ConditionEvents events);
    }
}
