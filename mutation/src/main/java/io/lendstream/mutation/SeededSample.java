package io.lendstream.mutation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.pitest.mutationtest.build.InterceptorParameters;
import org.pitest.mutationtest.build.InterceptorType;
import org.pitest.mutationtest.build.ProjectMutationInterceptor;
import org.pitest.mutationtest.build.ProjectMutationInterceptorFactory;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.plugin.Feature;

/** A PIT plugin that keeps a uniform random sample of all mutants; the same seed keeps the same ones. */
public final class SeededSample implements ProjectMutationInterceptorFactory {
    static final String SEED = "lendstream.mutation.seed";
    /** How many mutants are kept; 0 for all. */
    static final String SIZE = "lendstream.mutation.sample";

    @Override
    public ProjectMutationInterceptor createInterceptor(InterceptorParameters parameters) {
        return new Sampler(Integer.getInteger(SIZE, 0), Long.getLong(SEED, 1));
    }

    @Override
    public Feature provides() {
        return Feature.named("SEEDED_SAMPLE").withOnByDefault(true).withDescription(description());
    }

    @Override
    public String description() {
        return "Keeps a seeded random sample of the mutants";
    }

    private record Sampler(int size, long seed) implements ProjectMutationInterceptor {
        @Override
        public Collection<MutationDetails> intercept(Collection<MutationDetails> mutants) {
            List<MutationDetails> all = new ArrayList<>(mutants);
            all.sort(Comparator.comparing(MutationDetails::getId));
            System.err.printf("%d mutants, sample of %d, seed %d%n", all.size(), size == 0 ? all.size() : size, seed);
            if (size == 0 || all.size() <= size) {
                return all;
            }
            Collections.shuffle(all, new Random(seed));
            return List.copyOf(all.subList(0, size));
        }

        @Override
        public InterceptorType type() {
            return InterceptorType.FILTER;
        }
    }
}
