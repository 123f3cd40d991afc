import Comparison

CompareCommand.main()
