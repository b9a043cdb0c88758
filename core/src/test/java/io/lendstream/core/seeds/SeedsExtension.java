package io.lendstream.core.seeds;

import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.ReflectionSupport;

/** Calls a test method once for each of its seeds; for JUnit this is one test. */
final class SeedsExtension implements ParameterResolver, InvocationInterceptor {
    static final int NOT_GIVEN = 0;
    private static final int USUAL_COUNT = 1000;

    private static final Map<Class<?>, LongFunction<Object>> VALUES =
            Map.of(long.class, seed -> seed, Random.class, Random::new, RandomValues.class, RandomValues::new);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getDeclaringExecutable().isAnnotationPresent(Seeds.class) && isSeed(parameter.getParameter());
    }

    private static boolean isSeed(Parameter parameter) {
        return VALUES.containsKey(parameter.getType());
    }

    /** A value that no seed uses: {@link #interceptTestMethod} puts another in its place for each seed. */
    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return value(parameter.getParameter(), 0);
    }

    private static Object value(Parameter parameter, long seed) {
        return VALUES.get(parameter.getType()).apply(seed);
    }

    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> call, ExtensionContext context) {
        invocation.skip();
        Method method = call.getExecutable();
        int place = place(method);
        Object[] arguments = call.getArguments().toArray();
        long[] seeds = seeds(context);
        for (int i = 0; i < seeds.length; i++) {
            arguments[place] = value(method.getParameters()[place], seeds[i]);
            try {
                ReflectionSupport.invokeMethod(method, context.getRequiredTestInstance(), arguments);
            } catch (Throwable failure) {
                throw new AssertionError(message(context, seeds, i, failure), failure);
            }
        }
    }

    /** The index of the parameter that takes the seed. */
    private static int place(Method method) {
        List<Parameter> parameters = List.of(method.getParameters());
        List<Integer> places = IntStream.range(0, parameters.size())
                .filter(i -> isSeed(parameters.get(i)))
                .boxed()
                .toList();
        if (places.size() != 1) {
            throw new ExtensionConfigurationException(
                    "%s has %d parameters for a seed, but needs 1: a long, a Random or RandomValues"
                            .formatted(method.toGenericString(), places.size()));
        }
        return places.get(0);
    }

    private static long[] seeds(ExtensionContext context) {
        Optional<Long> only = context.getConfigurationParameter("seeds.only", Long::valueOf);
        if (only.isPresent()) {
            return new long[] {only.get()};
        }
        SplittableRandom random = new SplittableRandom(name(context).hashCode());
        // Random uses no more than 48 bits of its seed.
        return random.longs(count(context)).map(seed -> seed >>> 16).toArray();
    }

    private static int count(ExtensionContext context) {
        int given = context.getRequiredTestMethod().getAnnotation(Seeds.class).value();
        Optional<Integer> asked = context.getConfigurationParameter("seeds.count", Integer::valueOf);
        int count = given == NOT_GIVEN ? asked.orElse(USUAL_COUNT) : Math.max(given, asked.orElse(given));
        if (count < 1) {
            throw new ExtensionConfigurationException(
                    "%s needs at least 1 seed, but has %d; see its @Seeds and -Dseeds.count"
                            .formatted(name(context), count));
        }
        return count;
    }

    /** As Maven's {@code -Dtest} takes it, with the package. */
    private static String name(ExtensionContext context) {
        return context.getRequiredTestClass().getName() + "#"
                + context.getRequiredTestMethod().getName();
    }

    private static String message(ExtensionContext context, long[] seeds, int index, Throwable failure) {
        return "seed %d (%d of %d) fails: %s%nTo run it alone: -Dtest=%s -Dseeds.only=%1$d"
                .formatted(seeds[index], index + 1, seeds.length, failure, name(context));
    }
}
