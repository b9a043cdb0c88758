package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.Deed;
import io.lendstream.core.event.TrainingProgress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** All that a driver told. */
final class Heard implements Ear {
    private final List<Deed> deeds = new CopyOnWriteArrayList<>();
    private final List<TrainingProgress> progress = new CopyOnWriteArrayList<>();

    @Override
    public void tell(Deed deed) {
        deeds.add(deed);
    }

    @Override
    public void tell(TrainingProgress said) {
        progress.add(said);
    }

    List<Deed> deeds() {
        return List.copyOf(deeds);
    }

    List<TrainingProgress> progress() {
        return List.copyOf(progress);
    }
}
