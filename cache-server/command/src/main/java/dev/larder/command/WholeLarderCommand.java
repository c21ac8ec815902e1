package dev.larder.command;

import picocli.CommandLine.Command;

/** The {@code larder} command with all its subcommands. */
@Command(
        subcommands = {
            Serve.class,
            Load.class,
            Register.class,
            Wait.class,
            Ls.class,
            Info.class,
            Show.class,
            ShowPath.class,
            Pin.class,
            Pin.Unpin.class,
            Evict.class,
            Verify.class,
            Freeze.class,
            Reload.class,
            Status.class,
            Feed.class,
            Run.class,
            Launch.class,
            Grid.class,
            Demo.class,
            Doctor.class,
            Devices.class,
            ListReaders.class,
            Gc.class,
            Clients.class,
            Top.class,
            ListRegions.class,
            Errors.class,
            Stop.class,
            Completion.class,
            LarderCommand.Help.class
        })
final class WholeLarderCommand extends LarderCommand {}
