package io.lendstream.load;

import io.lendstream.service.ServiceCommand;

/** {@code lendstream load}. */
public final class LoadMain {
    private LoadMain() {}

    public static void main(String[] arguments) {
        System.exit(ServiceCommand.execute(new LoadCommand(), arguments));
    }
}
